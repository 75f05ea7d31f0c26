/** `denrei/runtime`: the processes of the platform and their settings. */
import "../nodeversion.ts";

export { type Admission, startAdmission } from "../admission/server.ts";
export { startBridge } from "../bridge/bridge.ts";
export {
  AbsentError,
  ExpectedError,
  RolesRefusedError,
  UsageError,
  usageExitCode,
} from "../command/errors.ts";
export { report } from "../command/explain.ts";
export { withSettings } from "../command/flags.ts";
export { gateway } from "../command/gateway.ts";
export { launcher } from "../command/launcher.ts";
export { say, watchOutput, whenOutputCloses } from "../command/output.ts";
export {
  accountSettings,
  admissionSettings,
  type BusProcessSettings,
  busProcessSettings,
  busSettings,
  ConfigError,
  dashboardSettings,
  defaultOf,
  flagOf,
  type ProcessSettings,
  processSettings,
  readSettings,
  type SettingName,
  type Settings,
  variableOf,
} from "../config/config.ts";
export { startGateway } from "../gateway/gateway.ts";
export { readSecrets } from "../gateway/secrets.ts";
export { accountOf, accountUser } from "../process/accounts.ts";
export { startProcessClock } from "../process/clock.ts";
export { type Connections, defaultConnections, limitConnections } from "../process/connections.ts";
export { AddressError, listenOn } from "../process/listen.ts";
export { reread } from "../process/reread.ts";
export {
  busOptionsOf,
  type ProcessContext,
  type Running,
  runBusProcess,
  runProcess,
} from "../process/run.ts";
export { exitCodeOf, onStopSignals } from "../process/signals.ts";
export { unreadMillis } from "../process/unread.ts";
export { componentsVariable } from "../project/components.ts";
export { ProjectError } from "../project/errors.ts";
export type { Groups } from "../project/groups.ts";
export { openProject, type Project } from "../project/project.ts";
export { definedKinds } from "../worker/definedkinds.ts";
export {
  bridgeNeeds,
  defineFunction,
  kindsOf,
  type PolicyRule,
  type ReconcileFunction,
  subscriptionsOf,
} from "../worker/function.ts";
export { debuggedWarning } from "../worker/keeper.ts";
export { internetPorts } from "../worker/outbound.ts";
export { bridgeRules, listedRules, mergedRules, workerRules } from "../worker/rbac.ts";
export { startWorker } from "../worker/worker.ts";
