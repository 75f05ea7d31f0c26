import { openProject, report, say, UsageError } from "denrei/runtime";
import { existingCluster } from "../../environment/existing.ts";
import { openTerminal } from "../terminal.ts";
import { checkIssuer, openDashboard } from "./dashboard.ts";
import { type DevEnvironment, openDevEnvironment, removeRunRoles } from "./environment.ts";
import { guide, inspectorPort as usualInspectorPort } from "./guide.ts";
import { openHookRelay, openReceiver } from "./receiver.ts";
import { openRelay } from "./relay.ts";
import { Reloader } from "./reload.ts";
import { createScreen } from "./screen.ts";
import type { Simulated } from "./simulated.ts";
import { checkSimulators, startSimulators } from "./simulators.ts";
import { watchSaves } from "./watch.ts";

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
  /** Runs functions with the rights of the kubeconfig's user. */
  readonly ownRights?: true;
  /** Number of nodes of a local platform. Default: 1 if kpack or PipeCD is simulated, otherwise 0. */
  readonly nodes?: number;
}

const unwatchedAdvice =
  "Fix this and restart denrei dev. ENOSPC means too few inotify watches (sysctl fs.inotify.max_user_watches).";

/** Throws a `UsageError` for an unknown function, before anything starts. */
async function checkNames(names: readonly string[]): Promise<void> {
  // If the list of functions does not load, the workers report why, and a save fixes it.
  const named = await import("../named.ts").catch(() => undefined);
  await named?.checkFunctionNames(names);
}

/** Runs functions, all of them if none is named, until Ctrl-C. */
export async function dev(functions: readonly string[], options: DevOptions): Promise<void> {
  const { workers = 1, inspect, inspectPort, gateway, gatewayPort, simulate = [] } = options;
  const isInspected = inspect || inspectPort !== undefined;
  const receivesWebhooks = gateway || gatewayPort !== undefined || simulate.includes("github");
  if (isInspected && workers > 1)
    throw new UsageError(`a debugger needs a single worker, but --workers is ${workers}`);
  if (options.nodes !== undefined && existingCluster())
    throw new UsageError(`--nodes works on a local platform only. Omit it, or unset KUBECONFIG and NATS_URL`);
  await checkNames(functions);
  checkSimulators(simulate);
  const { folder: root } = await openProject();
  const { dashboard: withDashboard = false } = options;
  if (withDashboard) checkIssuer();
  const { nodes = simulate.some((one) => one !== "github") ? 1 : 0 } = options;
  const inspector = isInspected
    ? await openRelay({
        for: "debuggers",
        port: inspectPort,
        usualPort: usualInspectorPort,
        onChange: "disconnect",
      })
    : undefined;
  const hooks = receivesWebhooks ? await openHookRelay(gatewayPort) : undefined;
  const { display, print, stopping } = openTerminal();
  const { signal } = stopping;
  const ended = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  let environment: DevEnvironment | undefined;
  try {
    const isDebugged = inspector !== undefined;
    environment = await openDevEnvironment({
      rights: options.ownRights ? "own" : "generated",
      ...{ display, say: print, signal, nodes, isDebugged, dashboard: withDashboard },
    });
    display.done();
    signal.throwIfAborted();
    const screen = createScreen({ write: print, colors: process.stdout.hasColors?.() ? "on" : "off", root });
    const receiver = hooks && (await openReceiver(environment, hooks));
    const onEnd = (error: Error): void => stopping.abort(error);
    const onUndelivered = (line: string): void => screen.print(line, "yellow");
    const simulated = { environment, receiver, signal, onEnd, onUndelivered };
    const { github, env } = await startSimulators(simulate, simulated);
    const withServices: DevEnvironment = { ...environment, env: { ...environment.env, ...env } };
    const reloader = new Reloader({
      environment: withServices,
      functions,
      workers,
      inspector,
      receiver,
      root,
      screen,
      signal,
    });
    let isGuidePrinted = false;
    const reload = async (): Promise<void> => {
      await reloader.reload();
      if (isGuidePrinted || reloader.declared === undefined || signal.aborted) return;
      isGuidePrinted = true;
      const dashboard = await openDashboard({ environment: withServices, display, say: print, signal });
      say(guide(withServices, reloader.declared, { inspector, receiver, github, dashboard }, root));
    };
    // Not awaited, so that a stop signal also ends the program while code starts.
    const startReload = () => void reload().catch((error: unknown) => stopping.abort(error));
    await watchSaves({
      root,
      signal,
      onSaved(paths) {
        screen.print(`saved ${paths.length > 3 ? `${paths.length} files` : paths.join(", ")}`, "bold");
        startReload();
      },
      onError({ message }) {
        screen.print(`Some saves are no longer detected: ${message}`, "red");
        screen.more([unwatchedAdvice], []);
      },
    });
    startReload();
    await ended;
    if (process.exitCode === undefined) throw signal.reason;
  } catch (error) {
    if (process.exitCode === undefined) await report(error);
  }
  inspector?.close();
  hooks?.close();
  environment?.webhookRelay?.close();
  await environment?.processes.stop();
  if (environment) await removeRunRoles(environment).catch(report);
  process.exit();
}
