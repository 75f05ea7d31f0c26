/** Errors of the library that are printed without a stack: their message tells the user what to do. */

import { CrdRejectedError } from "../kube/crdrejection.ts";
import { ApiError, ApiUnreachableError, CredentialsError } from "../kube/errors.ts";
import { CrdDowngradeError } from "../kube/install.ts";
import { KubeconfigError } from "../kube/kubeconfig.ts";
import { BusUnreachableError } from "../nats/connect.ts";
import { BusPermissionError } from "../nats/permissionerror.ts";
import { AddressError } from "../process/listen.ts";
import { TopologyError } from "../topology/ensure.ts";
import { ForeignFunctionError } from "../topology/owner.ts";

export const expectedErrors = [
  ApiError,
  ApiUnreachableError,
  BusPermissionError,
  BusUnreachableError,
  CrdDowngradeError,
  CrdRejectedError,
  CredentialsError,
  ForeignFunctionError,
  KubeconfigError,
  AddressError,
  TopologyError,
] as const;
