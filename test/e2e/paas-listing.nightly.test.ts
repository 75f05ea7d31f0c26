/** Enough open pull requests for two pages of GitHub's default size. paas-listing.test.ts has the same test with small pages. */
import { afterAll, beforeAll, test } from "vitest";
import { expectManyPreviews } from "../harness/manypreviews.ts";
import { type Paas, startPaas } from "../harness/paas.ts";

let paas: Paas;
beforeAll(async () => {
  paas = await startPaas({ repositories: ["acme/many"] });
});
afterAll(() => paas?.stop());

test(
  "each of 75 open pull requests has a preview, and an incomplete list deletes none",
  ({ expect }) => expectManyPreviews(paas, { first: 75, last: 105, expect }),
  400_000,
);
