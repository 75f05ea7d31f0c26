/** The other side: Probot with a handler that does nothing, in `probot/`. The project does not depend on it. */
import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { request } from "undici";
import { describeExit } from "../../../deploy/local/index.ts";
import { withFreePorts } from "../../../deploy/local/parts/ports.ts";
import { hookSecret } from "../../harness/environment.ts";
import { pidOf } from "../contender.ts";
import type { WebhookBenchEnvironment } from "./environment.ts";
import type { Receiver } from "./receiver.ts";

const run = promisify(execFile);
const source = fileURLToPath(new URL("./probot/", import.meta.url));
const program = join("node_modules", "probot", "bin", "probot.js");
const webhookPath = "/api/github/webhooks";

/** An installed Probot. */
export interface InstalledProbot {
  readonly version: string;
  readonly folder: string;
  remove(): Promise<void>;
}

/** Installs Probot into a temporary folder. Throws with instructions if that fails. */
export async function installProbot(signal: AbortSignal): Promise<InstalledProbot> {
  const folder = await mkdtemp(join(tmpdir(), "denrei-probot-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await cp(source, folder, { recursive: true });
    await run("npm", ["ci", "--ignore-scripts", "--prefer-offline"], { cwd: folder, signal });
    const manifest = await readFile(join(folder, "package.json"), "utf8");
    return { version: (JSON.parse(manifest) as Manifest).dependencies.probot, folder, remove };
  } catch (error) {
    await remove();
    signal.throwIfAborted();
    const { stderr } = error as { stderr?: string };
    throw new Error(
      `expected to install Probot with npm ci (test/bench/webhooks/probot), but ${stderr?.trim() || (error as Error).message}`,
      { cause: error },
    );
  }
}

interface Manifest {
  readonly dependencies: { readonly probot: string };
}

/** The installed Probot, started as its documentation recommends for production. */
export function probot(
  { platform, signal, fail }: WebhookBenchEnvironment,
  { folder }: InstalledProbot,
): Receiver {
  const { privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  const start = (name: string, port: number) =>
    platform.spawn(
      {
        name,
        command: process.execPath,
        args: [program, "run", "./app.js"],
        cwd: folder,
        env: {
          NODE_ENV: "production",
          APP_ID: "1",
          PRIVATE_KEY: privateKey,
          WEBHOOK_SECRET: hookSecret,
          HOST: "127.0.0.1",
          PORT: String(port),
          LOG_FORMAT: "json",
          // At "info" it writes a line of 2 KB for each request.
          LOG_LEVEL: "warn",
        },
        ready: async () => (await request(`http://127.0.0.1:${port}/ping`)).body.text(),
        onUnexpectedExit: (exit) => fail(new Error(`${name} ${describeExit(exit)}`)),
      },
      signal,
    );
  return {
    name: "probot",
    start: (label) =>
      withFreePorts(1, async ([port = 0], attempt) => {
        const child = await start(`probot-${label}-${attempt}`, port);
        return {
          url: `http://127.0.0.1:${port}${webhookPath}`,
          pids: new Map([["probot", pidOf(child)]]),
          kept: async () => undefined,
          stop: () => child.stop(),
        };
      }),
  };
}
