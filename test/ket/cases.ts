/** Applies cases and checks their results. */
import type { Stored } from "denrei/kinds";
import { expectationOf, type Fixture, readFixture } from "./fixture.ts";
import type { Manifest } from "./manifest.ts";
import type { AppliedCase, Ket } from "./options.ts";
import { describe } from "./report.ts";
import { limitOf, type WaitOptions } from "./waiting.ts";
import { type Target, watched } from "./watching.ts";

/** What cases need. */
export interface CasesOptions extends WaitOptions {
  /** The folder with the cases. */
  readonly folder: string | undefined;
}

/** A case failed. The message contains everything that is known about its objects. */
export class CaseError extends Error {
  override readonly name = "CaseError";
}

/** Opens {@link Ket.apply}. Each case has a deadline. */
export function openCases(options: CasesOptions): Ket["apply"] {
  const { client, kubectl, namespace, sources, deadlineMillis, folder } = options;

  async function targetOf(manifest: Manifest): Promise<Target> {
    const { apiVersion, kind: name, metadata } = manifest;
    const kind = await kubectl.kindOf(apiVersion, name);
    const at = {
      name: metadata.name,
      ...(kind.scope === "Namespaced" && { namespace: metadata.namespace ?? namespace }),
    };
    return { kind, at, expected: expectationOf(manifest) };
  }

  async function expectAll(fixture: Fixture, millis: number): Promise<AppliedCase["found"]> {
    const targets = await Promise.all(fixture.expected.map(targetOf));
    const signal = limitOf(options, millis);
    const observed = await watched(client, targets, signal);
    const wrong = observed.filter(({ differences }) => differences.length > 0);
    if (wrong.length === 0) return observed.map(({ object }) => object);
    const lines = wrong.flatMap(({ kind, at, differences }) =>
      differences.map((line) => `  ${kind.kind} ${at.name} ${line}`),
    );
    const why =
      (signal.reason as Error).name === "TimeoutError"
        ? `within ${millis} ms`
        : `before ${signal.reason.message}`;
    throw new Error(`did not become as expected ${why}:\n${lines.join("\n")}`);
  }

  /** Describes every object that the case names, once. */
  async function describeAll(fixture: Fixture): Promise<string> {
    const named = [...fixture.given, ...fixture.expected];
    const all = await Promise.allSettled(named.map(targetOf));
    const parts = new Map<string, Promise<string> | string>();
    for (const [at, one] of all.entries()) {
      const { kind, metadata } = named[at] as Manifest;
      if (one.status === "fulfilled")
        parts.set(JSON.stringify([one.value.kind.group, kind, one.value.at]), describe(sources, one.value));
      else parts.set(JSON.stringify([kind, metadata]), `${kind} ${metadata.name}: ${one.reason.message}`);
    }
    return (await Promise.all(parts.values())).join("\n");
  }

  return async (name, then, millis = deadlineMillis) => {
    const fixture = await readFixture(folder, name);
    const given: Stored[] = [];
    const failures: string[] = [];
    let cause: unknown;
    try {
      given.push(...(await kubectl.apply(...fixture.given)));
      const found = await expectAll(fixture, millis);
      await then?.({ name, given, found });
    } catch (error) {
      cause = error;
      const about = await describeAll(fixture).catch(
        (unknown: Error) => `no further details: ${unknown.message}`,
      );
      failures.push(`the case "${name}" ${(error as Error).message}\n${about}`);
    }
    try {
      await kubectl.delete(...fixture.given);
    } catch (error) {
      cause ??= error;
      failures.push(`objects of the case "${name}" were not deleted: ${(error as Error).message}`);
    }
    if (failures.length > 0) throw new CaseError(failures.join("\n"), { cause });
  };
}
