/** `denrei/kinds`: declarations of kinds, and the types of their objects. Runs in a browser as well. */

export { z } from "zod";
export {
  type AdmissionHooks,
  type AdmissionOptions,
  type AdmissionRequest,
  admissionPaths,
  type DeletionRequest,
  type FieldError,
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
} from "../kube/crd.ts";
export { domain, optedInRole, optInCommands, optInLabel } from "../kube/domain.ts";
export { age, conditions, objectName, observedGeneration, quantity, ready, time } from "../kube/fields.ts";
export {
  apiVersionOf,
  ConfigMap,
  type ConfigMapObject,
  checkObject,
  defineKind,
  externalKind,
  InvalidObjectError,
  type Kind,
  kindText,
  Namespace,
  type ObjectOf,
  Pod,
  type Scope,
  Secret,
  type SecretObject,
} from "../kube/kind.ts";
export { type LabelSelector, selects } from "../kube/labelselector.ts";
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
export { ClusterRole, ClusterRoleBinding, RoleBinding } from "../kube/rbac.ts";
export { timeText } from "../kube/timetext.ts";
export { Deployment, Service, ServiceAccount, StatefulSet } from "../kube/workloads.ts";
