/** Node images. Each release of kind has its own, and later releases publish their tags again. */
import { versions } from "@denrei/cli/local/index";
import { KetOptionError } from "./optionerror.ts";

/**
 * By version of kind, then of Kubernetes, with kind's default first. From the notes of each release, with digests,
 * https://github.com/kubernetes-sigs/kind/releases.
 */
const images: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "0.33.0": {
    "1.37.0": "a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5",
    "1.36.4": "099e049362a1526b2db71494e1947aae99bd16290d7c895f2b7ea312e3cbfaed",
    "1.35.8": "07b2536e30b803ed61d1677a79df6115f798ce64c80f9e22f6ed45afd09323c0",
    "1.34.11": "44e222ee2132dab25ff87301682f89eb82c7880ea3a1bf543bfe9708fd08d67d",
  },
  "0.32.0": {
    "1.36.1": "3489c7674813ba5d8b1a9977baea8a6e553784dab7b84759d1014dbd78f7ebd5",
    "1.35.5": "ce977ae6d65918d0b58a5f8b5e940429c2ce42fa3a5619ec2bbc60b949c0ac95",
    "1.34.8": "02722c2dedddcfc00febf5d27fbeb9b7b2c14294c82109ff4a85d89ac9ba3256",
    "1.33.12": "3f5c8443c620245e4d355cfe09e96a91ead32ceaa569d3f1ca9edf0cb2fe2ff4",
  },
  "0.31.0": {
    "1.35.0": "452d707d4862f52530247495d180205e029056831160e22870e37e3f6c1ac31f",
  },
};

/** Parses a version without its `v`. Throws {@link KetOptionError}, which names the option. */
export function versionIn(option: string, text: string): string {
  const version = /^v?(\d+\.\d+\.\d+)$/.exec(text)?.[1];
  if (version !== undefined) return version;
  throw new KetOptionError(
    `${option}: ${JSON.stringify(text)} is not a version. Write it as three numbers, such as ${versions.kind}.`,
  );
}

/**
 * The node image for a version of kind, with the given version of Kubernetes or kind's default. Throws {@link KetOptionError} when none
 * is recorded.
 */
export function nodeImage(kind: string, kubernetes: string | undefined): string {
  const ofKind = images[kind];
  if (ofKind === undefined)
    throw new KetOptionError(
      `kindVersion: no node images are recorded for kind ${kind}. Recorded are those for kind ${Object.keys(images).join(", ")}.`,
    );
  const version = kubernetes ?? Object.keys(ofKind)[0] ?? "";
  const digest = ofKind[version];
  if (digest === undefined)
    throw new KetOptionError(
      `kubernetesVersion: kind ${kind} has no node image of Kubernetes ${version}. It has ${Object.keys(ofKind).join(", ")}.`,
    );
  return `kindest/node:v${version}@sha256:${digest}`;
}
