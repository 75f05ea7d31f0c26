/** Names that others know: the group, and the labels and annotations that tie objects together. */

export const group = "modoki.tsuzu.dev";
export const version = "v1alpha1";

export const labels = {
  /** On what the built-in chart makes: the Application's name. */
  app: "modoki-app",
  /** On Images, and on all that kpack makes of them: the RemoteSync's name. */
  remoteSync: `${group}/remote-sync`,
  /** On Applications and RemoteSyncs of a preview: the AppPipeline's name. */
  pipeline: `${group}/app-pipeline`,
  /** On the same: the number of the pull request. */
  pullRequest: `${group}/pull-request-id`,
} as const;

export const annotations = {
  /** Changed by whoever wants an object to be reconciled at once. */
  refreshedAt: `${group}/refreshed-at`,
  /** On a RemoteSync of a preview: the last commit of the pull request, as the pipeline knows it. */
  headSHA: `${group}/head-sha`,
  /** On a RemoteSync: changed by a user who wants kpack's Image to be deleted and created again. */
  recreateImage: `${group}/recreate-image`,
  /** On an Application: the revision that its image was built from. */
  revision: `${group}/revision`,
  /** On a builder's ServiceAccount: the Secrets in it that are the RemoteSync's, separated by commas. */
  builderSecrets: `${group}/builder-secrets`,
} as const;

/** What kpack says of a Build, and is told of it, in its labels and annotations. */
export const kpack = {
  /** Label: which Build of its Image it is, from 1 on. */
  buildNumber: "image.kpack.io/buildNumber",
  /** Annotation: why it was made, separated by commas: CONFIG, COMMIT, STACK and so on. */
  reason: "image.kpack.io/reason",
  /** Annotation, on the newest Build of an Image: have another one made when that has ended. */
  rebuild: "image.kpack.io/additionalBuildNeeded",
} as const;
