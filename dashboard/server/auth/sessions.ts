/**
 * Who has logged in. The tokens lie on the bus, encrypted, so that any replica can serve any request and a logout is one
 * everywhere; the browser has the key to its own session and to no other.
 */
import { createHash, hkdfSync, randomBytes } from "node:crypto";
import { z } from "zod";
import type { Bus } from "../../../bus/connect.ts";
import { emptyTtl, replaceLast } from "../../../bus/queue/replace.ts";
import { sessionSubject, streams } from "../../../bus/subjects.ts";
import type { Tokens } from "./issuer.ts";
import { type Key, type Sealer, sealer } from "./keys.ts";

/** What is known of somebody who has logged in. */
export const sessionSchema = z.object({
  /** Their name, as the issuer has it. */
  user: z.string(),
  idToken: z.string(),
  refreshToken: z.string().optional(),
  /** When the ID token ends. Milliseconds since the epoch. */
  expiresAt: z.number(),
  /** What a page has to show that wants something done: another site can not read it. */
  csrf: z.string(),
  /** Who they are at GitHub, once they have connected it, and what GitHub lets them in with. */
  github: z.object({ login: z.string(), token: z.string() }).optional(),
});
export type Session = z.infer<typeof sessionSchema>;

/** The part of a session that comes from the issuer. */
export const sessionOf = ({
  user,
  idToken,
  refreshToken,
  expiresAt,
}: Tokens): Omit<Session, "csrf" | "github"> => ({
  user,
  idToken,
  expiresAt,
  ...(refreshToken !== undefined && { refreshToken }),
});

/** A session, and its place on the bus. */
export interface OpenSession {
  readonly id: string;
  readonly session: Session;
  /** Of the record: what is written replaces this one and no other. */
  readonly sequence: number;
}

/** The sessions of all replicas. */
export interface Sessions {
  /** Begins a session, and returns what names it: a secret of the browser's. */
  begin(session: Session): Promise<string>;
  /** Undefined when there is none of this name any more. */
  find(id: string): Promise<OpenSession | undefined>;
  /** Writes a session anew, unless somebody else has meanwhile. */
  update(open: OpenSession, session: Session): Promise<"replaced" | "overtaken">;
  /** Ends it, for all replicas. */
  end(open: OpenSession): Promise<void>;
}

/** Names nobody can guess: 256 bits. */
const idBytes = 32;
/** Idle sessions go with the stream's own age limit; none is said here. */
const kept = "12h";

const subjectOf = (id: string): string => sessionSubject(createHash("sha256").update(id).digest("base64url"));

/** Opens the sessions on a bus. */
export function openSessions(
  bus: Pick<Bus, "inbox" | "stuck" | "jsm">,
  keys: () => readonly Key[],
): Sessions {
  // Neither who reads the bus nor who has a key alone can read a session: its name is part of the key.
  const sealerOf = (id: string): Sealer =>
    sealer(keys, ({ secret }) => new Uint8Array(hkdfSync("sha256", secret, id, "denrei session", 32)));

  async function write(id: string, session: Session, sequence: number) {
    const sealed = await sealerOf(id).seal(JSON.stringify(session));
    return replaceLast(bus, subjectOf(id), sequence, sealed, kept);
  }

  return {
    async begin(session) {
      const id = randomBytes(idBytes).toString("base64url");
      await write(id, session, 0);
      return id;
    },
    async find(id) {
      const found = await bus.jsm.direct.getMessage(streams.sessions, { last_by_subj: subjectOf(id) });
      if (found === null || found.data.length === 0) return undefined;
      const text = await sealerOf(id).open(found.string());
      if (text === undefined) return undefined;
      return { id, session: sessionSchema.parse(JSON.parse(text)), sequence: found.seq };
    },
    update: ({ id, sequence }, session) => write(id, session, sequence),
    async end({ id, sequence }) {
      await replaceLast(bus, subjectOf(id), sequence, "", emptyTtl);
    },
  };
}
