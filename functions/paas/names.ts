/** API group, labels, and annotations that link objects. */

export const group = "modoki.tsuzu.dev";
export const version = "v1alpha1";

export const labels = {
  /** On objects of the built-in chart: the Application's name. */
  app: "modoki-app",
  /** On kpack's Images and the objects that kpack creates from them: the RemoteSync's name. */
  remoteSync: `${group}/remote-sync`,
  /** On Applications and RemoteSyncs of a preview: the AppPipeline's name. */
  pipeline: `${group}/app-pipeline`,
  /** On the same objects: the number of the pull request. */
  pullRequest: `${group}/pull-request-id`,
} as const;

export const annotations = {
  /** Changed to request a reconcile at once. */
  refreshedAt: `${group}/refreshed-at`,
  /** On a RemoteSync of a preview: the last commit of the pull request, as the pipeline knows it. */
  headSHA: `${group}/head-sha`,
  /** On a RemoteSync: changed by a user to have kpack's Image deleted and created again. */
  recreateImage: `${group}/recreate-image`,
  /** On an Application: the revision that its image was built from. */
  revision: `${group}/revision`,
  /** On a builder's ServiceAccount: the Secrets that the RemoteSync added to it, separated by commas. */
  builderSecrets: `${group}/builder-secrets`,
} as const;

/** Labels and annotations of kpack's Builds. */
export const kpack = {
  /** Label: the number of the Build, counted from 1 for each Image. */
  buildNumber: "image.kpack.io/buildNumber",
  /** Annotation: why kpack created the Build, separated by commas: CONFIG, COMMIT, STACK, and so on. */
  reason: "image.kpack.io/reason",
  /** Annotation on the newest Build of an Image: kpack creates another one when that Build has ended. */
  rebuild: "image.kpack.io/additionalBuildNeeded",
} as const;

/** Name of the ConfigMap with the site's settings, in the platform's namespace. */
export const siteName = "modoki";
/** Keys of that ConfigMap: the settings, and a chart in either language. */
export const siteKeys = { config: "config.yaml", typescript: "chart.ts", javascript: "chart.js" } as const;
