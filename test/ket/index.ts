/**
 * `@denrei/test`: end-to-end tests of functions on real parts, like KET for controllers in Go. A case is a folder with given objects
 * and expectations. docs/functions.md shows how to write cases.
 *
 * @packageDocumentation
 */
export { RolesRefusedError } from "denrei/runtime";
export { CaseError } from "./cases.ts";
export { type ConversionSample, conversionProblems } from "./conversions.ts";
export { type Discovery, UnservedKindError } from "./discovery.ts";
export { ContextRefusedError } from "./existing.ts";
export type { Forward, ForwardTarget } from "./forward.ts";
export { startKet } from "./ket.ts";
export { KindUnavailableError } from "./kind.ts";
export type { Kubectl } from "./kubectl.ts";
export type { Lines } from "./lines.ts";
export { FixtureError, type Manifest, type Named } from "./manifest.ts";
export { differences, type Expectation, matches } from "./match.ts";
export { KetOptionError } from "./optionerror.ts";
export type { AppliedCase, Ket, KetOptions, KindCluster, Ref, SkaffoldOptions } from "./options.ts";
export { platformSecrets } from "./platformsecrets.ts";
export type { Replica } from "./replica.ts";
export { DeployError } from "./skaffold.ts";
