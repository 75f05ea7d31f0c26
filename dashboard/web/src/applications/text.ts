/** Texts about Applications. */

/** The overview tab. */
export const overviewText = {
  noRepository: "no repository: the image is set by hand",
  buildsForbidden: "unknown: you cannot list RemoteSyncs here",
  buildsUnknown: "not loaded yet",
};
