/** Names of kpack v0.17.2's child objects, by the rule of knative's `kmeta.ChildName`. */
import { createHash } from "node:crypto";

const maxLength = 63;
const hashLength = 32;

/** Joins the parent's name and a suffix of at most 31 characters; a parent that is too long is cut and hashed. */
export function childName(parent: string, suffix: string): string {
  if (parent.length <= maxLength - suffix.length) return parent + suffix;
  const hash = createHash("md5").update(parent).digest("hex");
  return parent.slice(0, maxLength - hashLength - suffix.length) + hash + suffix;
}

/** Names of an Image's children and of a Build's pod. Clients must use labels and status instead: kpack may change names. */
export const buildName = (image: string, number: number): string => childName(image, `-build-${number}`);
export const sourceResolverName = (image: string): string => childName(image, "-source");
export const cacheName = (image: string): string => childName(image, "-cache");
export const podName = (build: string): string => childName(build, "-build-pod");
