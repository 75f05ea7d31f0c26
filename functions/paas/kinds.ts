/** Application, RemoteSync and AppPipeline: `modoki.tsuzu.dev/v1alpha1`. Objects of modoki-operator apply unchanged. */
export { Application } from "./kinds/application.ts";
export { AppPipeline, type Preview } from "./kinds/apppipeline.ts";
export { HostClaim } from "./kinds/hostclaim.ts";
export { RemoteSync } from "./kinds/remotesync.ts";
