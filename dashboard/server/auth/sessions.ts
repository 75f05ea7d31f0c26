/**
 * Who has logged in. The tokens lie on the bus, encrypted, so that any replica can serve any request and a logout is one
 * everywhere; the browser has the key to its own session and to no other.
 */
import { createHash, randomBytes } from "node:crypto";
import { z } from "zod";
import type { Bus } from "../../../bus/nats/connect.ts";
import { isOvertaken } from "../../../bus/nats/wrongsequence.ts";
import { publishUntilAnswered } from "../../../bus/queue/publish.ts";
import { emptyTtl } from "../../../bus/queue/replacelast.ts";
import { sessionSubject, streams } from "../../../bus/subjects.ts";
import { sessionHours } from "../../../bus/topology/streams.ts";
import { AwayError } from "./away.ts";
import type { Tokens } from "./issuer.ts";
import type { Key } from "./keys.ts";
import { type Sealer, sealer } from "./sealer.ts";

/** A session ends this long after it has begun, whatever happens in it: who has left the company is out a day later. Hours. */
export const wholeSessionHours = 24;

/** A session that is used is written again when its record is this old: it must not end as one that is idle. Milliseconds. */
const touchMillis = 3_600_000;
/** A request does not wait longer for the bus. Milliseconds. */
const busMillis = 5000;

/** What is known of somebody who has logged in. */
export const sessionSchema = z.object({
  /** Their name, as the issuer has it. */
  user: z.string(),
  /** As Kubernetes has it, where that was said. */
  name: z.string().optional(),
  idToken: z.string(),
  refreshToken: z.string().optional(),
  /** When the ID token ends. Milliseconds since the epoch. */
  expiresAt: z.number(),
  /** What a page has to show that wants something done: another site can not read it. */
  csrf: z.string(),
  /** Who they are at GitHub, once they have connected it, and what GitHub lets them in with. */
  github: z.object({ login: z.string(), token: z.string() }).optional(),
  /** Milliseconds since the epoch. */
  startedAt: z.number(),
  /** Who asks the issuer for new tokens at the moment, and until when nobody else does. Milliseconds since the epoch. */
  lease: z.object({ holder: z.string(), endsAt: z.number() }).optional(),
});
export type Session = z.infer<typeof sessionSchema>;

/** The part of a session that comes from the issuer. */
export const sessionOf = ({
  user,
  idToken,
  refreshToken,
  expiresAt,
}: Tokens): Pick<Session, "user" | "idToken" | "refreshToken" | "expiresAt"> => ({
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
  /** When the record was written. Milliseconds since the epoch, by the bus. */
  readonly writtenAt: number;
}

/** How long a write is tried: as long as a request waits, or, of what is nowhere else, until it is done. */
export type Patience = "request" | "endless";

/** The sessions of all replicas. All of them throw an {@link AwayError} when the bus does not answer. */
export interface Sessions {
  /** Begins a session, and returns what names it: a secret of the browser's. */
  begin(session: Omit<Session, "csrf" | "startedAt">): Promise<string>;
  /** Undefined when there is none of this name any more. */
  find(id: string): Promise<OpenSession | undefined>;
  /** Writes a session anew, unless somebody else has meanwhile. */
  update(open: OpenSession, session: Session, patience?: Patience): Promise<OpenSession | "overtaken">;
  /** Writes a session again that would soon be taken for idle. */
  touch(open: OpenSession): Promise<void>;
  /** Ends it, for all replicas; returns it as it was. */
  end(id: string): Promise<Session | undefined>;
}

/** Names nobody can guess: 256 bits. */
const idBytes = 32;

const subjectOf = (id: string): string => sessionSubject(createHash("sha256").update(id).digest("base64url"));

const endOf = ({ startedAt }: Session): number => startedAt + wholeSessionHours * 3_600_000;

/** NATS duration text, for a session in which nothing happens from now on. */
const keptFor = (session: Session): string => {
  const left = Math.ceil((endOf(session) - Date.now()) / 1000);
  return `${Math.max(1, Math.min(left, sessionHours * 3600))}s`;
};

/** Opens the sessions on a bus. */
export function openSessions(
  bus: Pick<Bus, "inbox" | "stuck" | "jsm">,
  keys: () => readonly Key[],
): Sessions {
  // Neither who reads the bus nor who has a key alone can read a session: its name is part of the key.
  const sealing = (id: string): Sealer => sealer(keys, { name: "session", secret: id });

  /** The leader is asked, and not whichever server has a copy: whoever has just logged in is known, and whoever has just logged out is not. */
  async function read(id: string) {
    try {
      return await bus.jsm.streams.getMessage(streams.sessions, { last_by_subj: subjectOf(id) });
    } catch (error) {
      throw away(error as Error);
    }
  }

  async function publish(
    id: string,
    text: string,
    { sequence, ttl, patience }: { sequence: number; ttl: string; patience: Patience },
  ): Promise<number | "overtaken"> {
    try {
      const signal = patience === "request" ? AbortSignal.timeout(busMillis) : undefined;
      const wanted = { lastSubjectSequence: sequence, ttl, signal };
      return await publishUntilAnswered(bus, subjectOf(id), text, wanted);
    } catch (error) {
      if (!isOvertaken(error)) throw away(error as Error);
      return "overtaken";
    }
  }

  async function write(id: string, session: Session, sequence: number, patience: Patience) {
    const sealed = await sealing(id).seal(JSON.stringify(session));
    return publish(id, sealed, { sequence, ttl: keptFor(session), patience });
  }

  async function update(
    { id, sequence }: OpenSession,
    session: Session,
    patience: Patience = "request",
  ): Promise<OpenSession | "overtaken"> {
    const written = await write(id, session, sequence, patience);
    if (written === "overtaken") return written;
    return { id, session, sequence: written, writtenAt: Date.now() };
  }

  async function opened(id: string, sealed: string): Promise<Session | undefined> {
    const found = await sealing(id).open(sealed);
    const session = found && sessionSchema.safeParse(JSON.parse(found.text)).data;
    return session && endOf(session) > Date.now() ? session : undefined;
  }

  return {
    async begin(session) {
      const id = randomBytes(idBytes).toString("base64url");
      const csrf = randomBytes(18).toString("base64url");
      await write(id, { ...session, csrf, startedAt: Date.now() }, 0, "request");
      return id;
    },
    async find(id) {
      const found = await read(id);
      if (found === null) return undefined;
      const session = await opened(id, found.string());
      return session && { id, session, sequence: found.seq, writtenAt: found.time.getTime() };
    },
    update,
    async touch(open) {
      // Overtaken, it has been written by somebody else.
      if (Date.now() - open.writtenAt > touchMillis) await update(open, open.session);
    },
    async end(id) {
      for (;;) {
        const found = await read(id);
        if (found === null || found.data.length === 0) return undefined;
        const ended = await publish(id, "", { sequence: found.seq, ttl: emptyTtl, patience: "request" });
        if (ended !== "overtaken") return opened(id, found.string());
      }
    },
  };
}

const away = (error: Error): AwayError =>
  new AwayError(
    "bus",
    `expected the bus to know who is logged in, but it does not answer (${error.message}). Try again in a moment.`,
    { cause: error },
  );
