/** Sessions of a dashboard as time has left them: their records on the bus are written as if it had passed. */
import { connectBus } from "../../bus/nats/connect.ts";
import { readKeys } from "../../dashboard/server/auth/keys.ts";
import { sealer } from "../../dashboard/server/auth/sealer.ts";
import { type OpenSession, openSessions, type Session } from "../../dashboard/server/auth/sessions.ts";
import type { Scene } from "./dashboard.ts";

/** The records of sessions. */
export interface Records {
  /** By the cookie of a browser. Throws when there is none. */
  of(cookie: string | undefined): Promise<OpenSession>;
  /** Writes some of it as if it had always been so. */
  change(cookie: string | undefined, changed: Partial<Session>): Promise<void>;
  /** The token is at its end; it has to be refreshed before anything else. */
  age(cookie: string | undefined): Promise<void>;
  close(): Promise<void>;
}

/** Reads and writes them as the dashboard does, with its keys. */
export async function openRecords({ kit, keysPath }: Pick<Scene, "kit" | "keysPath">): Promise<Records> {
  const bus = await connectBus({ url: kit.platform.natsUrl, name: "test" });

  async function open(cookie = "") {
    const keys = await readKeys(keysPath);
    const opened = await sealer(() => keys, { name: "cookie session" }).open(cookie);
    const { id } = JSON.parse(opened?.text ?? "{}") as { id?: string };
    const sessions = openSessions(bus, () => keys);
    const found = id === undefined ? undefined : await sessions.find(id);
    if (found === undefined) throw new Error(`expected a session of the cookie ${cookie}, found none`);
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
