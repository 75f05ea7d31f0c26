/** Errors that say themselves what was expected, what was found and what to do. */
import { BusUnreachableError } from "../../bus/connect.ts";
import { BusPermissionError } from "../../bus/denied.ts";
import { KubeconfigError } from "../../bus/kube/connection.ts";
import { ApiError, ApiUnreachableError, CredentialsError } from "../../bus/kube/errors.ts";
import { CrdDowngradeError } from "../../bus/kube/install.ts";
import { AddressError } from "../../bus/process/listen.ts";
import { TopologyError } from "../../bus/topology.ts";
import { BinaryUnavailableError, ChecksumMismatchError, ChildStartError } from "../local/index.ts";
import { AbsentError } from "./usage.ts";

/** Types whose message is all that a person needs. */
export const selfExplaining = [
  AbsentError,
  ApiError,
  ApiUnreachableError,
  BinaryUnavailableError,
  BusPermissionError,
  BusUnreachableError,
  ChecksumMismatchError,
  ChildStartError,
  CrdDowngradeError,
  CredentialsError,
  KubeconfigError,
  AddressError,
  TopologyError,
] as const;
