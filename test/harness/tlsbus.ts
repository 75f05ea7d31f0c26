/** The bus of the kustomize base on this machine: its own configuration, with nothing but paths and ports changed. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Child, type LocalProcesses, obtainBinaries } from "../../deploy/local/index.ts";
import { withFreePorts } from "../../deploy/local/parts/ports.ts";
import type { KeyPair } from "../../deploy/local/pki.ts";

/** A Secret, as far as these tests look at it. */
export interface Secret {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly type: string;
  readonly data: Readonly<Record<string, string>>;
}

/** A NATS server with TLS and certificates for users. */
export interface TlsBus {
  readonly url: string;
  readonly monitorUrl: string;
  readonly server: Child;
  /** Settings of a process that has mounted this Secret: `denrei-bridge-tls`, say. */
  env(secret: string): { NATS_URL: string; NATS_CA: string; NATS_CERT: string; NATS_KEY: string };
  /** Replaces what is mounted. */
  mount(secret: Secret): Promise<void>;
}

const base = fileURLToPath(new URL("../../deploy/kubernetes/base/", import.meta.url));

/** A Secret with a key pair in it, and the authority to trust. */
export function secretWith(name: string, ca: string, { cert, key }: KeyPair): Secret {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const data = { "ca.crt": base64(ca), "tls.crt": base64(cert), "tls.key": base64(key) };
  return { metadata: { name, namespace: "denrei" }, type: "kubernetes.io/tls", data };
}

/** Starts the server with these Secrets, and with the base's users unless there are others. */
export async function startTlsBus(
  processes: LocalProcesses,
  secrets: readonly Secret[],
  authorization?: string,
): Promise<TlsBus> {
  const { "nats-server": binary } = await obtainBinaries(["nats-server"]);
  const folder = join(processes.directory, "tls-bus");
  const folderOf = (secret: string) => join(folder, secret);

  async function mount({ metadata, data }: Secret): Promise<void> {
    await mkdir(folderOf(metadata.name), { recursive: true });
    for (const [name, text] of Object.entries(data))
      await writeFile(join(folderOf(metadata.name), name), Buffer.from(text, "base64"), { mode: 0o600 });
  }

  await mkdir(folder);
  await Promise.all(secrets.map(mount));
  await writeFile(
    join(folder, "authorization.conf"),
    authorization ?? (await readFile(join(base, "authorization.conf"))),
  );
  const given = await readFile(join(base, "nats.conf"), "utf8");
  return withFreePorts(2, async ([port, monitorPort]) => {
    const config = join(folder, "nats.conf");
    const text = given
      .replaceAll("/etc/nats-tls", folderOf("nats-tls"))
      .replace("/data", join(folder, "data"))
      .replace("0.0.0.0:4222", `127.0.0.1:${port}`)
      .replace("0.0.0.0:8222", `127.0.0.1:${monitorPort}`);
    await writeFile(config, text);
    const url = `tls://127.0.0.1:${port}`;
    const monitorUrl = `http://127.0.0.1:${monitorPort}`;
    const server = await processes.spawn({
      name: "tls-nats",
      command: binary.path,
      args: ["--config", config],
      env: { POD_NAME: "nats-0" },
      async ready() {
        const answer = await fetch(`${monitorUrl}/healthz`);
        if (!answer.ok) throw new Error(await answer.text());
      },
      readyMillis: 30_000,
      closingSignal: "SIGKILL",
    });
    return {
      url,
      monitorUrl,
      server,
      mount,
      env: (secret) => ({
        NATS_URL: url,
        NATS_CA: join(folderOf(secret), "ca.crt"),
        NATS_CERT: join(folderOf(secret), "tls.crt"),
        NATS_KEY: join(folderOf(secret), "tls.key"),
      }),
    };
  });
}
