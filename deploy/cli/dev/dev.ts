/** `denrei dev`: functions run on a local platform, and what is saved takes the place of what runs. */
import { fileURLToPath } from "node:url";
import { report } from "../explain.ts";
import { ownCluster } from "../foreign.ts";
import { say } from "../output.ts";
import { openTerminal } from "../terminal.ts";
import { UsageError } from "../usage.ts";
import { openDashboard, planDashboard } from "./dashboard.ts";
import { type Ground, openGround } from "./ground.ts";
import { guide, inspectorPort as usualInspectorPort } from "./guide.ts";
import type { Play } from "./playable.ts";
import { type Programs, preparePlays } from "./plays.ts";
import { openHookRelay, openReceiver } from "./receiver.ts";
import { openRelay } from "./relay.ts";
import { watchSaves } from "./saves.ts";
import { screen as openScreen } from "./screen.ts";
import { succession } from "./succession.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url)).replace(/\/$/, "");

/** What the command line says. */
export interface DevOptions extends Programs {
  readonly workers?: number;
  /** Lets a debugger attach. */
  readonly inspect?: true;
  /** Where; includes `inspect`. */
  readonly inspectPort?: number;
  /** Receives webhooks. */
  readonly gateway?: true;
  /** Where; includes `gateway`. */
  readonly gatewayPort?: number;
  /** What is played of the world outside; `github` includes `gateway`. */
  readonly play?: readonly Play[];
  /** Has a dashboard in front. */
  readonly dashboard?: true;
  /** Path of a program that plays the login there. */
  readonly login?: string;
  /** How many nodes a local platform has; one where pods matter to what is played, otherwise none. */
  readonly nodes?: number;
}

const unwatchedAdvice =
  "Put that right, and start this again. ENOSPC says that there are too few inotify watches (sysctl fs.inotify.max_user_watches).";

/** Runs functions, all of them if none is named, until Ctrl-C. */
export async function dev(functions: readonly string[], options: DevOptions): Promise<void> {
  const { workers = 1, inspect, inspectPort, gateway, gatewayPort, play = [] } = options;
  const isInspected = inspect || inspectPort !== undefined;
  const isReached = gateway || gatewayPort !== undefined || play.includes("github");
  if (isInspected && workers > 1)
    throw new UsageError(`expected one worker for a debugger, found --workers ${workers}`);
  if (options.nodes !== undefined && ownCluster())
    throw new UsageError(
      `expected no --nodes with KUBECONFIG and NATS_URL, found --nodes ${options.nodes}: a cluster that exists has its own`,
    );
  const begin = preparePlays(play, options);
  const plan = options.dashboard && planDashboard(options.login);
  const { nodes = play.some((one) => one !== "github") ? 1 : 0 } = options;
  const inspector = isInspected
    ? await openRelay({
        for: "debuggers",
        port: inspectPort,
        usualPort: usualInspectorPort,
        before: "cut off",
      })
    : undefined;
  const hooks = isReached ? await openHookRelay(gatewayPort) : undefined;
  const { display, tell, stopping } = openTerminal();
  const { signal } = stopping;
  const ended = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  let ground: Ground | undefined;
  try {
    const isDebugged = inspector !== undefined;
    ground = await openGround({ display, say: tell, signal, nodes, isDebugged, dashboard: plan });
    display.done();
    signal.throwIfAborted();
    const screen = openScreen({ write: tell, colours: process.stdout.hasColors?.() ? "on" : "off", root });
    const receiver = hooks && (await openReceiver(ground, hooks));
    const onEnd = (error: Error): void => stopping.abort(error);
    const { github, env } = await begin({ ground, receiver, signal, onEnd });
    const there: Ground = { ...ground, env: { ...ground.env, ...env } };
    const codes = succession({
      ground: there,
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
      const dashboard = await openDashboard({ ground: there, display, say: tell, signal });
      say(guide(there, codes.declared, { inspector, receiver, github, dashboard }));
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
  await ground?.processes.stop();
  process.exit();
}
