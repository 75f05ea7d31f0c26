/** nats-server with JetStream and users. Its streams are files in the run's directory. */
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import { authorizationText, type NatsUser } from "../../authorization.ts";
import type { Child } from "../run/child.ts";
import type { Run } from "../run/run.ts";
import type { PartOptions } from "./part.ts";
import { withFreePorts } from "./ports.ts";

/** A running NATS server. */
export interface Nats extends Child {
  /** `nats://127.0.0.1:port`, without a user. */
  readonly url: string;
  /** `http://127.0.0.1:port`: `/varz`, `/jsz` and the other monitoring endpoints. */
  readonly monitorUrl: string;
  /** Writes other limits into its configuration, which take effect at its next start. */
  configure(storage: NatsStorage): Promise<void>;
}

/** Storage of a server. */
export interface NatsStorage {
  /** Folder of the streams. Default: one in the run's directory. */
  readonly folder?: string | undefined;
  /** Limit for all files together, in bytes. Default: the size of the disk. */
  readonly maxFileBytes?: number | undefined;
}

/** Starts a server on free ports of 127.0.0.1. Its data survives restarts, even after `kill -9`. */
export function startNats(
  run: Run,
  users: readonly NatsUser[],
  {
    binary,
    signal,
    onUnexpectedExit,
    storage = {},
    pingSeconds,
  }: PartOptions & { readonly storage?: NatsStorage | undefined; readonly pingSeconds?: number | undefined },
): Promise<Nats> {
  return withFreePorts(2, async ([port = 0, monitorPort = 0]) => {
    // Unique on this machine, so that its server info identifies it.
    const name = basename(run.directory);
    const configPath = join(run.directory, "nats.conf");
    const configure = ({ folder = join(run.directory, "nats"), maxFileBytes }: NatsStorage) =>
      writeFile(
        configPath,
        [
          `server_name: ${JSON.stringify(name)}`,
          `listen: "127.0.0.1:${port}"`,
          `http: "127.0.0.1:${monitorPort}"`,
          ...(pingSeconds === undefined ? [] : [`ping_interval: ${pingSeconds}`]),
          "jetstream {",
          `  store_dir: ${JSON.stringify(folder)}`,
          ...(maxFileBytes === undefined ? [] : [`  max_file_store: ${maxFileBytes}`]),
          "}",
          authorizationText(users),
        ].join("\n"),
        { mode: 0o600 },
      );
    await configure(storage);
    const child = run.child({
      name: "nats-server",
      command: binary,
      args: ["--config", configPath],
      ready: () => expectServerInfo(port, name),
      readyMillis: 20_000,
      graceMillis: 1000,
      onUnexpectedExit,
    });
    await child.start(signal);
    return Object.assign(child, {
      configure,
      url: `nats://127.0.0.1:${port}`,
      monitorUrl: `http://127.0.0.1:${monitorPort}`,
    });
  });
}

const ServerInfo = z.object({ server_name: z.string(), jetstream: z.boolean() });

/** Throws unless the server info on that port has this name and JetStream. */
async function expectServerInfo(port: number, name: string): Promise<void> {
  const socket = connect({ port, host: "127.0.0.1", timeout: 2000 });
  socket.once("timeout", () => socket.destroy(new Error("it sent no server info within 2 s")));
  try {
    const line = await new Promise<string>((resolve, reject) => {
      socket.once("error", reject);
      socket.once("close", () => reject(new Error("it closed the connection")));
      createInterface({ input: socket })
        .once("line", resolve)
        // readline repeats the socket's error, which is handled above.
        .on("error", () => undefined);
    });
    const { server_name, jetstream } = ServerInfo.parse(JSON.parse(line.replace(/^INFO /, "")));
    if (server_name !== name || !jetstream) throw new Error(`unexpected server info: ${line}`);
  } finally {
    socket.destroy();
  }
}
