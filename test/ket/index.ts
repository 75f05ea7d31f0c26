/**
 * `denrei/test`: tests of functions on real parts, as KET has them for controllers in Go (kind E2E tests). A case is a folder
 * with what is given and what is expected of it; `match.ts` says what an expectation means, docs/functions.md how it is done.
 */
export { CaseError } from "./cases.ts";
export { UnservedKindError } from "./discovery.ts";
export { ContextRefusedError } from "./existing.ts";
export type { Forward, ForwardTarget } from "./forward.ts";
export { startKet } from "./ket.ts";
export { KindUnavailableError } from "./kind.ts";
export type { Kubectl } from "./kubectl.ts";
export { FixtureError, type Manifest, type Named } from "./manifest.ts";
export { differences, type Expectation, matches } from "./match.ts";
export { KetOptionError } from "./optionerror.ts";
export type { AppliedCase, Ket, KetOptions, KindCluster, Ref, SkaffoldOptions } from "./options.ts";
export { platformSecrets } from "./platformsecrets.ts";
export { DeployError } from "./skaffold.ts";
