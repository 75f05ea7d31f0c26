/** `denrei bridge` */
import { startBridge } from "../../bus/bridge/bridge.ts";
import type { Settings } from "../../bus/config/config.ts";
import { type AccountSettings, busOptionsOf, runProcess } from "../../bus/process/run.ts";
import { bridgeNeeds } from "../../bus/worker/function.ts";
import { functions } from "../../functions/index.ts";

/** Runs the bridge until a stop signal. */
export const bridge = (settings: AccountSettings & Settings<"namespaces" | "watchSeconds">): Promise<void> =>
  runProcess("bridge", settings, (context) =>
    startBridge({
      ...context,
      ...settings,
      ...bridgeNeeds(functions, settings.cluster),
      busOptions: busOptionsOf(settings),
    }),
  );
