/** `denrei dev`: functions run on a local platform, and what is saved takes the place of what runs. */
import { fileURLToPath } from "node:url";
import type { Environment } from "../../environment/environment.ts";
import { UsageError } from "../../environment/errors.ts";
import { existingCluster } from "../../environment/existing.ts";
import { report } from "../explain.ts";
import { say } from "../output.ts";
import { openTerminal } from "../terminal.ts";
import { checkIssuer, openDashboard } from "./dashboard.ts";
import { openDevEnvironment } from "./environment.ts";
import { guide, inspectorPort as usualInspectorPort } from "./guide.ts";
import { openHookRelay, openReceiver } from "./receiver.ts";
import { openRelay } from "./relay.ts";
import { screen as openScreen } from "./screen.ts";
import type { Simulated } from "./simulated.ts";
import { checkSimulators, startSimulators } from "./simulators.ts";
import { succession } from "./succession.ts";
import { watchSaves } from "./watch.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url)).replace(/\/$/, "");

/** Options of the command line. */
export interface DevOptions {
  readonly workers?: number;
  /** Lets a debugger attach. */
  readonly inspect?: true;
  /** The port for debuggers; implies `inspect`. */
  readonly inspectPort?: number;
  /** Receives webhooks. */
  readonly gateway?: true;
  /** The port for webhooks; implies `gateway`. */
  readonly gatewayPort?: number;
  /** Services to simulate; `github` implies `gateway`. */
  readonly simulate?: readonly Simulated[];
  readonly dashboard?: true;
  /** Number of nodes of a local platform. Default: 1 if kpack or PipeCD is simulated, otherwise 0. */
  readonly nodes?: number;
}

const unwatchedAdvice =
  "Put that right, and start this again. ENOSPC says that there are too few inotify watches (sysctl fs.inotify.max_user_watches).";

/** Runs functions, all of them if none is named, until Ctrl-C. */
export async function dev(functions: readonly string[], options: DevOptions): Promise<void> {
  const { workers = 1, inspect, inspectPort, gateway, gatewayPort, simulate = [] } = options;
  const isInspected = inspect || inspectPort !== undefined;
  const isReached = gateway || gatewayPort !== undefined || simulate.includes("github");
  if (isInspected && workers > 1)
    throw new UsageError(`expected one worker for a debugger, found --workers ${workers}`);
  if (options.nodes !== undefined && existingCluster())
    throw new UsageError(
      `expected no --nodes with KUBECONFIG and NATS_URL, found --nodes ${options.nodes}: a cluster that exists has its own`,
    );
  checkSimulators(simulate);
  const { dashboard: withDashboard = false } = options;
  if (withDashboard) checkIssuer();
  const { nodes = simulate.some((one) => one !== "github") ? 1 : 0 } = options;
  const inspector = isInspected
    ? await openRelay({
        for: "debuggers",
        port: inspectPort,
        usualPort: usualInspectorPort,
        before: "cut off",
      })
    : undefined;
  const hooks = isReached ? await openHookRelay(gatewayPort) : undefined;
  const { display, print, stopping } = openTerminal();
  const { signal } = stopping;
  const ended = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  let environment: Environment | undefined;
  try {
    const isDebugged = inspector !== undefined;
    environment = await openDevEnvironment({
      ...{ display, say: print, signal, nodes, isDebugged, dashboard: withDashboard },
    });
    display.done();
    signal.throwIfAborted();
    const screen = openScreen({ write: print, colours: process.stdout.hasColors?.() ? "on" : "off", root });
    const receiver = hooks && (await openReceiver(environment, hooks));
    const onEnd = (error: Error): void => stopping.abort(error);
    const { github, env } = await startSimulators(simulate, { environment, receiver, signal, onEnd });
    const withServices: Environment = { ...environment, env: { ...environment.env, ...env } };
    const codes = succession({
      environment: withServices,
      functions,
      workers,
      inspector,
      receiver,
      root,
      screen,
      signal,
    });
    let guided = false;
    const succeed = async (): Promise<void> => {
      await codes.renew();
      if (guided || codes.declared === undefined || signal.aborted) return;
      guided = true;
      const dashboard = await openDashboard({ environment: withServices, display, say: print, signal });
      say(guide(withServices, codes.declared, { inspector, receiver, github, dashboard }));
    };
    // Nothing waits for it: a signal ends the program while code starts, too.
    const renew = () => void succeed().catch((error: unknown) => stopping.abort(error));
    await watchSaves({
      root,
      signal,
      onSaved(paths) {
        screen.tell(`saved ${paths.length > 3 ? `${paths.length} files` : paths.join(", ")}`, "bold");
        renew();
      },
      onTrouble({ message }) {
        screen.tell(`Not all that is saved is noticed any more: ${message}`, "red");
        screen.more([unwatchedAdvice], []);
      },
    });
    renew();
    await ended;
    if (process.exitCode === undefined) throw signal.reason;
  } catch (error) {
    if (process.exitCode === undefined) await report(error);
  }
  inspector?.close();
  hooks?.close();
  await environment?.processes.stop();
  process.exit();
}
