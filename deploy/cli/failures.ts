/** Errors that are printed without a stack. */

import { KubeconfigError } from "../../bus/kube/connection.ts";
import { CrdRejectedError } from "../../bus/kube/crdrejection.ts";
import { ApiError, ApiUnreachableError, CredentialsError } from "../../bus/kube/errors.ts";
import { CrdDowngradeError } from "../../bus/kube/install.ts";
import { BusUnreachableError } from "../../bus/nats/connect.ts";
import { BusPermissionError } from "../../bus/nats/permissionerror.ts";
import { AddressError } from "../../bus/process/listen.ts";
import { TopologyError } from "../../bus/topology.ts";
import { AbsentError } from "../environment/errors.ts";
import { BinaryUnavailableError, ChecksumMismatchError, ChildStartError } from "../local/index.ts";

/** Classes whose message tells the user what to do. */
export const expectedErrors = [
  AbsentError,
  ApiError,
  ApiUnreachableError,
  BinaryUnavailableError,
  BusPermissionError,
  BusUnreachableError,
  ChecksumMismatchError,
  ChildStartError,
  CrdDowngradeError,
  CrdRejectedError,
  CredentialsError,
  KubeconfigError,
  AddressError,
  TopologyError,
] as const;
