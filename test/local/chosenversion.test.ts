/** Obtaining a program in another version than the pinned one. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { catalogue, releaseHosts, thisTarget } from "../../deploy/local/binaries/catalogue.ts";
import { ChecksumMismatchError } from "../../deploy/local/binaries/download.ts";
import { cacheFolder } from "../../deploy/local/binaries/installed.ts";
import { obtainBinaries } from "../../deploy/local/binaries/obtain.ts";
import { type ChosenVersions, versions } from "../../deploy/local/versions.ts";
import {
  env,
  hasReleases,
  pinned,
  program,
  publish,
  putExecutable,
  record,
  root,
  sha256,
  withEmptyMachine,
} from "./releases.ts";

withEmptyMachine();

const chosen = { kind: "0.31.0", skaffold: "2.15.0" } as const;
const chosenProgram = (name: "kind" | "skaffold") => program(`${name} v${chosen[name]}`);

const obtain = async (name: "kind" | "skaffold", wanted: ChosenVersions = chosen) => {
  const timeouts = { connectMillis: 500, stallMillis: 500 };
  return (await obtainBinaries([name], { env, timeouts, versions: wanted }))[name];
};

function paths(name: "kind" | "skaffold", version: string) {
  const release = catalogue[name].release(thisTarget(), releaseHosts({}), version);
  if (!release) throw new Error(`no release of ${name} for this machine`);
  const path = (url: string) => `/github${new URL(url).pathname}`;
  return { ...release, file: path(release.url), sums: path(release.checksumUrl) };
}

/** A `go` that "installs" a program and records its arguments. */
function putGoInstall(text: string): void {
  putExecutable(
    join(root, "bin/go"),
    `#!/bin/sh
[ "$1" = version ] && exit 0
echo "$*" >>"${root}/go-calls"
printf '%s' '${text}' >"$GOBIN/kind"
`,
  );
}

describe("a chosen version", () => {
  test("is cached separately from the pinned one, and both are found again", async () => {
    putExecutable(join(cacheFolder("kind", env, chosen), "kind"), chosenProgram("kind"));
    putExecutable(join(cacheFolder("kind", env), "kind"), pinned("kind"));
    expect(await obtain("kind")).toMatchObject({
      origin: "cache",
      path: expect.stringContaining("kind-0.31.0-"),
    });
    expect((await obtain("kind", {})).path).toContain(`kind-${versions.kind}-`);
  });

  test("is taken from KUBEBUILDER_ASSETS and PATH only when they have that version", async () => {
    env.KUBEBUILDER_ASSETS = join(root, "assets");
    putExecutable(join(root, "assets/kind"), pinned("kind"));
    const path = putExecutable(join(root, "bin/kind"), chosenProgram("kind"));
    expect(await obtain("kind")).toEqual({ name: "kind", path, origin: "path" });
    expect((await obtain("kind", {})).origin).toBe("assets");
  });

  test.runIf(hasReleases).each(["kind", "skaffold"] as const)(
    "of %s is downloaded and compared with the publisher's checksum",
    async (name) => {
      const at = paths(name, chosen[name]);
      const text = chosenProgram(name);
      // The recorded checksum of the pinned release does not apply.
      record({ [paths(name, versions[name]).url]: sha256("another") });
      await publish({ [at.file]: text, [at.sums]: `${sha256(text)}  ${at.file.split("/").at(-1)}\n` });
      const { origin, path } = await obtain(name);
      expect([origin, readFileSync(path, "utf8")]).toEqual(["download", text]);
    },
  );

  test.runIf(hasReleases)("with another checksum is rejected, and no build is tried", async () => {
    const at = paths("kind", chosen.kind);
    putGoInstall(chosenProgram("kind"));
    await publish({ [at.file]: "changed", [at.sums]: sha256("published") });
    await expect(obtain("kind")).rejects.toThrow(ChecksumMismatchError);
  });

  test("of kind is installed with Go, which verifies it, when there is no release", async () => {
    putGoInstall(chosenProgram("kind"));
    expect((await obtain("kind")).origin).toBe("build");
    expect(readFileSync(join(root, "go-calls"), "utf8")).toMatch(
      /^install .* sigs\.k8s\.io\/kind@v0\.31\.0\n$/,
    );
  });

  test("of skaffold is not built, and the error has the reason and the chosen version", async () => {
    putGoInstall(chosenProgram("skaffold"));
    await expect(obtain("skaffold")).rejects.toThrow(
      /no source has skaffold 2\.15\.0:[\s\S]*go build: only the pinned version of \S+skaffold can be built/,
    );
  });
});
