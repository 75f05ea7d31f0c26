/** Previews of many open pull requests, which GitHub lists on several pages. */
import type { ExpectStatic } from "vitest";
import { AppPipeline } from "../../functions/paas/kinds.ts";
import type { Paas } from "./paas.ts";
import { idle, type Previews, previewsOn } from "./previews.ts";
import { conditionOf, has } from "./testobjects.ts";

/** The numbers of pull requests. */
export interface ManyOptions {
  /** Initially: as many as fit on one page of GitHub's list. */
  readonly first: number;
  /** In the end, with the oldest one closed: more than a page. */
  readonly last: number;
  readonly expect: ExpectStatic;
}

const deadlineMillis = 120_000;
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => at + from);

/** The pull request numbers in a pipeline's status. */
export const numbersOf = ({ status }: AppPipeline): string | undefined =>
  status?.previews?.map(({ number }) => number).join();

/** Makes the next poll of GitHub due; resolves when the pipeline has polled. */
export async function pollNow({ environment }: Paas, previews: Previews, name: string): Promise<void> {
  const long = "2026-01-01T00:00:00Z";
  const at = { namespace: "default", name };
  const options = { fieldManager: "test", subresource: "status" } as const;
  await environment.client.mergePatch(AppPipeline, at, { status: { nextListingAt: long } }, options);
  await previews.until(name, ({ status }) => status?.nextListingAt !== long);
}

/** Expects a preview for each pull request of `acme/many`, also while GitHub does not return the second page of the list. */
export async function expectManyPreviews(paas: Paas, { first, last, expect }: ManyOptions): Promise<void> {
  const previews = previewsOn(paas);
  const repository = "acme/many";
  const before = range(1, first);
  const expectObjects = (numbers: readonly number[]) =>
    expect
      .poll(() => previews.numbers("many"), { timeout: deadlineMillis })
      .toEqual({ applications: numbers, remoteSyncs: numbers });

  for (const _ of before) await previews.open("many");
  await previews.create("many", idle);
  await previews.until("many", (pipeline) => numbersOf(pipeline) === before.join());
  await expectObjects(before);

  for (const _ of range(first + 1, last)) await previews.open("many");
  await paas.github.closePullRequest({ repository, number: 1 });
  const fault = paas.github.fault({ path: /\/many\/pulls\?.*\bpage=2\b/ }, { status: 502 });
  await pollNow(paas, previews, "many");
  const failed = await previews.until("many", has("PullRequestsListed", "False", "GitHubUnreachable"));
  expect(conditionOf(failed)).toMatchObject({ status: "False", reason: "GitHubUnreachable" });
  expect(fault.hits).toBeGreaterThan(0);
  await paas.untilQuiet();
  expect(await previews.numbers("many")).toEqual({ applications: before, remoteSyncs: before });

  fault.remove();
  await pollNow(paas, previews, "many");
  const after = range(2, last);
  await previews.until("many", (pipeline) => numbersOf(pipeline) === after.join());
  await expectObjects(after);
  await previews.until("many", has("Ready", "True"));
}
