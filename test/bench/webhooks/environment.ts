/** The environment of both receivers: only a bus, so that the receivers have the two cores. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Bus, connectBus } from "../../../bus/nats/connect.ts";
import { progressDisplay } from "../../../deploy/environment/progress.ts";
import { describeExit, type LocalNats, projectRoles, startLocalNats } from "../../../deploy/local/index.ts";
import { hookSecret } from "../../harness/environment.ts";
import { type Accounts, inAccounts } from "../environment.ts";
import { type Load, openLoad } from "./load.ts";

/** The shared environment of the rounds. */
export interface WebhookBenchEnvironment {
  readonly platform: LocalNats;
  readonly bus: Bus;
  readonly load: Load;
  /** A folder with the secret of the hook `app`. */
  readonly secrets: string;
  readonly signal: AbortSignal;
  /** Ends the run because of an error outside any awaited call. */
  fail(error: Error): void;
  stop(): Promise<void>;
}

/** Starts the bus and the load generator. */
export async function openWebhookBenchEnvironment(
  stopping: AbortController,
  accounts: Accounts = "own",
): Promise<WebhookBenchEnvironment> {
  const { signal } = stopping;
  const fail = (error: Error): void => stopping.abort(error);
  const display = progressDisplay(process.stdout);
  const platform = await startLocalNats({
    roles: inAccounts(accounts, await projectRoles()),
    signal,
    onProgress: (step) => display.show(step),
    onUnexpectedExit: (part, exit) => fail(new Error(`${part} ${describeExit(exit)}`)),
  }).finally(() => display.done());
  let bus: Bus | undefined;
  let load: Load | undefined;
  const stop = async (): Promise<void> => {
    load?.stop();
    await bus?.nc.close();
    await platform.stop();
  };
  try {
    const secrets = join(platform.directory, "webhooks");
    await mkdir(secrets);
    await writeFile(join(secrets, "github.app"), `${hookSecret}\n`);
    bus = await connectBus({ url: platform.natsUrl, name: "denrei-bench" });
    load = await openLoad(signal);
    return { platform, bus, load, secrets, signal, fail, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
