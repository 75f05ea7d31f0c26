/**
 * `denrei/runtime`: the processes of the platform and their settings.
 *
 * @packageDocumentation
 */
import "../nodeversion.ts";

export { type Admission, type AdmissionOptions, startAdmission } from "../admission/server.ts";
export { type Bridge, type BridgeOptions, startBridge } from "../bridge/bridge.ts";
export type { LeaseTimes } from "../bridge/lease.ts";
export type { ScopeState } from "../bridge/scope.ts";
export type { WatcherState } from "../bridge/watcher.ts";
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
export type { BudgetLimits } from "../gateway/budget.ts";
export { type Gateway, type GatewayOptions, type GatewayTimes, startGateway } from "../gateway/gateway.ts";
export { readSecrets, type Secrets } from "../gateway/secrets.ts";
export { accountOf, accountUser } from "../process/accounts.ts";
export { type ProcessClockOptions, startProcessClock } from "../process/clock.ts";
export {
  type ConnectionOptions,
  type Connections,
  defaultConnections,
  limitConnections,
} from "../process/connections.ts";
export type { WaitFor } from "../process/frame.ts";
export { AddressError, listenOn } from "../process/listen.ts";
export { type Reread, type RereadOptions, reread } from "../process/reread.ts";
export {
  type BusProcessContext,
  busOptionsOf,
  type ProcessContext,
  type Running,
  runBusProcess,
  runProcess,
  type StandaloneContext,
} from "../process/run.ts";
export { exitCodeOf, onStopSignals, type StopHandlers } from "../process/signals.ts";
export { unreadMillis } from "../process/unread.ts";
export { componentsVariable } from "../project/components.ts";
export { ProjectError } from "../project/errors.ts";
export type { Groups } from "../project/groups.ts";
export { openProject, type Project } from "../project/project.ts";
export type { SelectedEvent, SelectionSchema } from "../webhooks/sharedselection.ts";
export type { BrakeLimits } from "../worker/brake.ts";
export { type Declaration, definedKinds } from "../worker/definedkinds.ts";
export type { RetryLimits } from "../worker/failures.ts";
export {
  defineFunction,
  kindsOf,
  type PolicyRule,
  type ReconcileFunction,
  subscriptionsOf,
} from "../worker/function.ts";
export type { FunctionWorkerOptions } from "../worker/functionworker.ts";
export { debuggedWarning } from "../worker/keeper.ts";
export { bridgeNeeds, type FunctionNeeds, needsOf } from "../worker/needs.ts";
export { internetPorts } from "../worker/outbound.ts";
export { bridgeRules, listedRules, mergedRules, workerRules } from "../worker/rbac.ts";
export { startWorker, type Worker, type WorkerOptions } from "../worker/worker.ts";
