/**
 * Sessions. Their tokens are stored encrypted on the bus, so any replica can serve any request, and a logout takes effect on all
 * replicas. The browser holds the key to its own session only.
 */
import { createHash, randomBytes } from "node:crypto";
import {
  type Bus,
  emptyTtl,
  isWrongSequence,
  publishUntilAnswered,
  sessionHours,
  sessionSubject,
  streams,
} from "denrei/bus";
import { z } from "zod";
import type { Tokens } from "./issuer.ts";
import type { Key } from "./keys.ts";
import { pendingAppSchema } from "./pendingapp.ts";
import { type Sealer, sealer } from "./sealer.ts";
import { UnavailableError } from "./unavailable.ts";

/** Maximum age of a session, however much it is used, so that a former employee loses access within a day. Hours. */
export const wholeSessionHours = 24;

/** A session in use is written again when its record is this old, so that it does not expire as idle. Milliseconds. */
const touchMillis = 3_600_000;
/** Timeout of bus operations during a request. Milliseconds. */
const busMillis = 5000;

/** The stored part of a session. */
export const sessionSchema = z.object({
  /** The subject of the ID token. */
  user: z.string(),
  /** The Kubernetes username, if the API server reported it. */
  name: z.string().optional(),
  idToken: z.string(),
  refreshToken: z.string().optional(),
  /** Expiry of the ID token. Milliseconds since the epoch. */
  expiresAt: z.number(),
  /** CSRF token that the page sends with each change. Other sites cannot read it. */
  csrf: z.string(),
  /** The connected GitHub account, and the token for it. */
  github: z.object({ login: z.string(), token: z.string() }).optional(),
  githubApp: pendingAppSchema.optional(),
  /** Milliseconds since the epoch. */
  startedAt: z.number(),
  /** The replica that refreshes the tokens, and until when others leave it to that replica. Milliseconds since the epoch. */
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

/** A session and its record on the bus. */
export interface OpenSession {
  readonly id: string;
  readonly session: Session;
  /** Sequence of the record. An update replaces only this version. */
  readonly sequence: number;
  /** Time of the record, by the bus. Milliseconds since the epoch. */
  readonly writtenAt: number;
}

/** How long a write is retried: `request` for at most {@link busMillis}, `endless` until it succeeds, for data that exists nowhere else. */
export type WriteRetry = "request" | "endless";

/** The sessions of all replicas. All methods throw an {@link UnavailableError} if the bus does not answer. */
export interface Sessions {
  /** Starts a session. Returns its ID, a secret of the browser. */
  begin(session: Omit<Session, "csrf" | "startedAt">): Promise<string>;
  /** Undefined if the session does not exist. */
  find(id: string): Promise<OpenSession | undefined>;
  /** Writes a session, unless another replica has written it since it was read. */
  update(open: OpenSession, session: Session, retry?: WriteRetry): Promise<OpenSession | "overtaken">;
  /** Renews the record if it could expire as idle. */
  touch(open: OpenSession): Promise<void>;
  /** Ends the session on all replicas. Returns its last state. */
  end(id: string): Promise<Session | undefined>;
}

/** 256 bits, not guessable. */
const idBytes = 32;

const subjectOf = (id: string): string => sessionSubject(createHash("sha256").update(id).digest("base64url"));

const expiryOf = ({ startedAt }: Session): number => startedAt + wholeSessionHours * 3_600_000;

/** TTL of the record as NATS duration text: the idle timeout, but not beyond the maximum age. */
const ttlOf = (session: Session): string => {
  const left = Math.ceil((expiryOf(session) - Date.now()) / 1000);
  return `${Math.max(1, Math.min(left, sessionHours * 3600))}s`;
};

interface Store {
  readonly bus: Pick<Bus, "inbox" | "stuck" | "jsm">;
  readonly keys: () => readonly Key[];
}

/** Opens the sessions on a bus. */
export function openSessions(bus: Store["bus"], keys: Store["keys"]): Sessions {
  const store = { bus, keys };
  return {
    async begin(session) {
      const id = randomBytes(idBytes).toString("base64url");
      const csrf = randomBytes(18).toString("base64url");
      const whole = { ...session, csrf, startedAt: Date.now() };
      await writeRecord(store, id, whole, { sequence: 0, retry: "request" });
      return id;
    },
    async find(id) {
      const record = await readRecord(store, id);
      if (record === null) return undefined;
      const session = await decrypt(store, id, record.string());
      return session && { id, session, sequence: record.seq, writtenAt: record.time.getTime() };
    },
    update: (open, session, retry = "request") => updateRecord(store, open, session, retry),
    async touch(open) {
      // If overtaken, another replica has just written it.
      if (Date.now() - open.writtenAt > touchMillis) await updateRecord(store, open, open.session, "request");
    },
    end: (id) => endRecord(store, id),
  };
}

/** The session's ID is part of the key: neither access to the bus nor a key file alone is enough to read a session. */
const sealerOf = ({ keys }: Store, id: string): Sealer => sealer(keys, { name: "session", secret: id });

async function decrypt(store: Store, id: string, sealed: string): Promise<Session | undefined> {
  const opened = await sealerOf(store, id).open(sealed);
  const session = opened && sessionSchema.safeParse(JSON.parse(opened.text)).data;
  return session && expiryOf(session) > Date.now() ? session : undefined;
}

/** Reads from the stream's leader. A replica of the stream could miss a login or logout that has just happened. */
async function readRecord({ bus }: Store, id: string) {
  try {
    return await bus.jsm.streams.getMessage(streams.sessions, { last_by_subj: subjectOf(id) });
  } catch (error) {
    throw unavailable(error as Error);
  }
}

interface WriteOptions {
  /** Of the record to replace; 0 for a new one. */
  readonly sequence: number;
  readonly retry: WriteRetry;
}

async function writeRecord(store: Store, id: string, session: Session, options: WriteOptions) {
  const sealed = await sealerOf(store, id).seal(JSON.stringify(session));
  return publishRecord(store, id, sealed, { ...options, ttl: ttlOf(session) });
}

async function publishRecord(
  { bus }: Store,
  id: string,
  text: string,
  { sequence, retry, ttl }: WriteOptions & { readonly ttl: string },
): Promise<number | "overtaken"> {
  try {
    const signal = retry === "request" ? AbortSignal.timeout(busMillis) : undefined;
    const options = { lastSubjectSequence: sequence, ttl, signal };
    return await publishUntilAnswered(bus, subjectOf(id), text, options);
  } catch (error) {
    if (!isWrongSequence(error)) throw unavailable(error as Error);
    return "overtaken";
  }
}

async function updateRecord(
  store: Store,
  { id, sequence }: OpenSession,
  session: Session,
  retry: WriteRetry,
): Promise<OpenSession | "overtaken"> {
  const written = await writeRecord(store, id, session, { sequence, retry });
  if (written === "overtaken") return written;
  return { id, session, sequence: written, writtenAt: Date.now() };
}

async function endRecord(store: Store, id: string): Promise<Session | undefined> {
  for (;;) {
    const record = await readRecord(store, id);
    if (record === null || record.data.length === 0) return undefined;
    const options = { sequence: record.seq, ttl: emptyTtl, retry: "request" } as const;
    const ended = await publishRecord(store, id, "", options);
    if (ended !== "overtaken") return decrypt(store, id, record.string());
  }
}

const unavailable = (error: Error): UnavailableError =>
  new UnavailableError("bus", "The bus, which stores the sessions, does not answer. Try again in a moment.", {
    cause: error,
  });
