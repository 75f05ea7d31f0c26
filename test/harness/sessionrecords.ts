/** Ages the sessions of a dashboard by rewriting their records on the bus. */
import { connectBus } from "../../bus/nats/connect.ts";
import { readKeys } from "../../dashboard/server/auth/keys.ts";
import { sealer } from "../../dashboard/server/auth/sealer.ts";
import { type OpenSession, openSessions, type Session } from "../../dashboard/server/auth/sessions.ts";
import type { DashboardEnvironment } from "./dashboard.ts";

/** Session records. */
export interface Records {
  /** The record for a session cookie. Throws if it does not exist. */
  of(cookie: string | undefined): Promise<OpenSession>;
  /** Overwrites fields of a record. */
  change(cookie: string | undefined, changed: Partial<Session>): Promise<void>;
  /** Expires the access token, so that the dashboard must refresh it first. */
  age(cookie: string | undefined): Promise<void>;
  close(): Promise<void>;
}

/** Reads and writes records with the dashboard's own keys. */
export async function openRecords({
  platform,
  keysPath,
}: Pick<DashboardEnvironment, "platform" | "keysPath">): Promise<Records> {
  const bus = await connectBus({ url: platform.natsUrl, name: "test" });

  async function open(cookie = "") {
    const keys = await readKeys(keysPath);
    const opened = await sealer(() => keys, { name: "cookie session" }).open(cookie);
    const { id } = JSON.parse(opened?.text ?? "{}") as { id?: string };
    const sessions = openSessions(bus, () => keys);
    const found = id === undefined ? undefined : await sessions.find(id);
    if (found === undefined) throw new Error(`no session for the cookie ${cookie}`);
    return { sessions, found };
  }

  async function change(cookie: string | undefined, changed: Partial<Session>): Promise<void> {
    for (;;) {
      const { sessions, found } = await open(cookie);
      if ((await sessions.update(found, { ...found.session, ...changed })) !== "overtaken") return;
    }
  }

  return {
    of: async (cookie) => (await open(cookie)).found,
    change,
    age: (cookie) => change(cookie, { expiresAt: Date.now() }),
    close: () => bus.nc.close(),
  };
}
