/**
 * `denrei/kinds`: declarations of kinds, and the types of their objects. Also exports `z` of zod. Runs in a browser as well.
 *
 * @packageDocumentation
 */

export { z } from "zod";
export {
  type AdmissionHooks,
  type AdmissionOptions,
  type AdmissionRequest,
  admissionPaths,
  type DeletionRequest,
  type FieldError,
  type RequestDetails,
  type RequestUser,
  type ValidationResult,
} from "../kube/admission.ts";
export { type ConditionUpdate, withoutConditions } from "../kube/conditions.ts";
export {
  type CelRule,
  type ConversionWebhook,
  cel,
  clientConfigOf,
  crdOf,
  listMap,
  needsConversion,
  needsWebhook,
  type WebhookAddress,
} from "../kube/crd.ts";
export { domain, optedInRole, optInCommands, optInLabel } from "../kube/domain.ts";
export {
  age,
  conditions,
  dataKey,
  objectName,
  observedGeneration,
  quantity,
  ready,
  time,
} from "../kube/fields.ts";
export {
  apiVersionOf,
  type CommonOptions,
  ConfigMap,
  type ConfigMapObject,
  checkObject,
  defineKind,
  externalKind,
  InvalidObjectError,
  type Kind,
  type KindDefinition,
  type KindOptions,
  kindText,
  Namespace,
  type ObjectAt,
  type ObjectOf,
  type ObjectWith,
  Pod,
  type Reach,
  type Schemas,
  type Scope,
  Secret,
  type SecretObject,
  type VersionedKindOptions,
} from "../kube/kind.ts";
export type {
  Content,
  ContentAt,
  Conversion,
  Conversions,
  ConvertedVersion,
  Convertible,
  PrinterColumn,
  ScalePaths,
  SpecAt,
  StatusAt,
  StatusOf,
  VersionOptions,
  VersionSettings,
} from "../kube/kindversions.ts";
export { type LabelSelector, selects } from "../kube/labelselector.ts";
export { amountOf, matchesDesired } from "../kube/matchesdesired.ts";
export {
  type Condition,
  compareVersions,
  controllerOf,
  controllerReference,
  groupOf,
  isPathSegment,
  type KubeObject,
  type ObjectMeta,
  type ObjectVersion,
  type OwnerReference,
  type Stored,
} from "../kube/object.ts";
export { pluralOf } from "../kube/plural.ts";
export { ClusterRole, ClusterRoleBinding, RoleBinding } from "../kube/rbac.ts";
export { type DeploymentObject, type Rollout, rolloutOf } from "../kube/rollout.ts";
export type { Json } from "../kube/schema/place.ts";
export { timeText } from "../kube/timetext.ts";
export { Deployment, Service, ServiceAccount, StatefulSet } from "../kube/workloads.ts";
