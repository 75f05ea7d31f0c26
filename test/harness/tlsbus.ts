/** The bus of the kustomizations on this machine: their own configuration, with changed paths and addresses only. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Child, LocalProcesses } from "../../deploy/local/index.ts";
import { withFreePorts } from "../../deploy/local/parts/ports.ts";
import type { KeyPair } from "../../deploy/local/pki.ts";
import { programs } from "./programs.ts";
import { base64 } from "./secretvalues.ts";

const { "nats-server": binary } = await programs("nats-server");

/** The Secret fields that these tests read. */
export interface Secret {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly type: string;
  readonly data: Readonly<Record<string, string>>;
}

/** One NATS server or three, with TLS and certificates for users. */
export interface TlsBus {
  readonly url: string;
  readonly servers: readonly TlsServer[];
  /** Environment of a process that mounts this Secret: `denrei-bridge-tls`, for example. */
  env(secret: string): { NATS_URL: string; NATS_CA: string; NATS_CERT: string; NATS_KEY: string };
  /** Replaces the mounted content. */
  mount(secret: Secret): Promise<void>;
}

/** A server, `nats-0` and so on. */
export interface TlsServer {
  readonly name: string;
  readonly child: Child;
  readonly monitorUrl: string;
  /** The port for routes from other servers. */
  readonly peerPort: number;
}

/** Options of a bus. */
export interface TlsBusOptions {
  /** Distinguishes it from another bus of the same processes. Defaults to `tls`. */
  readonly name?: string;
  /** The `authorization` block. Defaults to that of the base. */
  readonly authorization?: string;
  /** One server as in the base (the default), or three as in `components/nats-cluster`. */
  readonly servers?: 1 | 3;
}

const kubernetes = fileURLToPath(new URL("../../deploy/kubernetes/", import.meta.url));
const text = (path: string): Promise<string> => readFile(join(kubernetes, path), "utf8");

/** A Secret with a key pair and the CA to trust. */
export function secretWith(name: string, ca: string, { cert, key }: KeyPair): Secret {
  const data = { "ca.crt": base64(ca), "tls.crt": base64(cert), "tls.key": base64(key) };
  return { metadata: { name, namespace: "denrei" }, type: "kubernetes.io/tls", data };
}

/** Starts servers with these Secrets. */
export async function startTlsBus(
  processes: LocalProcesses,
  secrets: readonly Secret[],
  { name: busName = "tls", authorization, servers: count = 1 }: TlsBusOptions = {},
): Promise<TlsBus> {
  const folder = join(processes.directory, `${busName}-bus`);
  const folderOf = (secret: string) => join(folder, secret);

  async function mount({ metadata, data }: Secret): Promise<void> {
    await mkdir(folderOf(metadata.name), { recursive: true });
    for (const [name, text] of Object.entries(data))
      await writeFile(join(folderOf(metadata.name), name), Buffer.from(text, "base64"), { mode: 0o600 });
  }

  await mkdir(folder);
  await Promise.all(secrets.map(mount));
  const files = {
    "nats.conf": await text("base/nats.conf"),
    "authorization.conf": authorization ?? (await text("base/authorization.conf")),
    "cluster.conf": await text(count === 1 ? "base/cluster.conf" : "components/nats-cluster/cluster.conf"),
  };

  const servers = await withFreePorts(3 * count, (ports) => {
    const portsOf = (index: number) => ports.slice(3 * index, 3 * index + 3);
    /** Makes the server listen on loopback addresses and find the others there. */
    const placed = (text: string, index: number) => {
      const [port, monitorPort, peerPort] = portsOf(index);
      return text
        .replaceAll("/etc/nats-tls", folderOf("nats-tls"))
        .replaceAll("/etc/nats-peer-tls", folderOf("denrei-nats-tls"))
        .replace("store_dir: /data", `store_dir: ${join(folder, `data-${index}`)}`)
        .replace("0.0.0.0:4222", `127.0.0.1:${port}`)
        .replace("0.0.0.0:8222", `127.0.0.1:${monitorPort}`)
        .replace("0.0.0.0:6222", `127.0.0.1:${peerPort}`)
        .replaceAll(/nats-(\d)\.nats-headless:6222/g, (_, other) => `127.0.0.1:${portsOf(Number(other))[2]}`);
    };
    const start = async (index: number) => {
      const name = `nats-${index}`;
      const [port, monitorPort = 0, peerPort = 0] = portsOf(index);
      const monitorUrl = `http://127.0.0.1:${monitorPort}`;
      await mkdir(join(folder, name), { recursive: true });
      for (const [file, text] of Object.entries(files))
        await writeFile(join(folder, name, file), placed(text, index));
      const child = await processes.spawn({
        name: `${busName}-${name}`,
        command: binary.path,
        args: ["--config", join(folder, name, "nats.conf")],
        env: { POD_NAME: name },
        async ready() {
          const answer = await fetch(`${monitorUrl}/healthz`);
          if (!answer.ok) throw new Error(await answer.text());
        },
        readyMillis: 60_000,
        closingSignal: "SIGKILL",
      });
      return { name, child, monitorUrl, peerPort, url: `tls://127.0.0.1:${port}` };
    };
    return Promise.all(Array.from({ length: count }, (_, index) => start(index)));
  });

  const url = servers.map((server) => server.url).join();
  return {
    url,
    servers,
    mount,
    env: (secret) => ({
      NATS_URL: url,
      NATS_CA: join(folderOf(secret), "ca.crt"),
      NATS_CERT: join(folderOf(secret), "tls.crt"),
      NATS_KEY: join(folderOf(secret), "tls.key"),
    }),
  };
}
