import { expect, test } from "vitest";
import { rateLimits } from "../../../bus/github/limits.ts";
import { githubRepository } from "../../../bus/github/repository.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import type { AppPipeline, Preview } from "../kinds/apppipeline.ts";
import { former, markerOf } from "./names.ts";
import { accept, refuse, type SendContext } from "./piece.ts";
import { piecesOf } from "./pieces.ts";
import { type Notes, unrefused } from "./record.ts";

const now = new Date("2026-01-02T03:04:05Z");
const pipelineWith = (report: AppPipeline["spec"]["report"]) =>
  ({ metadata: { namespace: "team-a", name: "web", uid: "u1" }, spec: { report } }) as Stored<AppPipeline>;
const all = pipelineWith({ deployment: true });
const context = "denrei/prod/team-a/web";
const [first, second] = ["a", "b"].map((digit) => digit.repeat(40)) as [string, string];
const preview = (phase: Preview["phase"], headSHA = first): Preview => ({
  ...{ number: 7, headSHA, since: "2026-01-02T03:04:05Z", phase },
  url: "https://pr-7.example.com",
});

/** The pieces of a single pull request. */
const piecesFor = (pipeline: Stored<AppPipeline>, what: Preview | "gone", notes: Notes, at = now) =>
  piecesOf({ pipeline, context }, what === "gone" ? [] : [what], new Map([[notes.number, notes]]), at);

/** A simulated GitHub that answers with new ids by default, and records requests. */
function github(
  answers: (request: string) => { status: number; body: unknown } | undefined = () => undefined,
) {
  const requests: string[] = [];
  const fetch = async (url: string | URL | Request, init?: RequestInit) => {
    const { pathname } = new URL(String(url));
    if (pathname === "/graphql") {
      const body = JSON.stringify({ data: { viewer: { login: "denrei[bot]" } } });
      return new Response(body, { headers: { "content-type": "application/json" } });
    }
    const body = init?.body ? JSON.parse(String(init.body)) : {};
    const request = `${init?.method} ${pathname.replace("/repos/acme/web/", "")}`;
    requests.push([request, body.state].filter(Boolean).join(" "));
    const { status, body: answer } = answers(request) ?? {
      status: 200,
      body: init?.method === "GET" ? [] : { id: requests.length },
    };
    return new Response(JSON.stringify(answer), { status, headers: { "content-type": "application/json" } });
  };
  const client = githubRepository({ owner: "acme", name: "web", token: "t", limits: rateLimits(), fetch });
  const target: SendContext = { pipeline: all, context, client, signal: new AbortController().signal };
  return {
    requests,
    /** Reports a preview, or its deletion, and returns the requests to GitHub. */
    async tell(notes: Notes, what: Preview | "gone", pipeline = all): Promise<string[]> {
      const from = requests.length;
      for (const piece of piecesFor(pipeline, what, notes)) await piece.send({ ...target, pipeline });
      return requests.slice(from);
    },
  };
}

test("reports everything once, and again only after changes", async () => {
  const { tell } = github();
  const notes: Notes = { number: 7 };
  expect(await tell(notes, preview("Building"))).toEqual([
    `POST statuses/${first} pending`,
    "GET deployments",
    "POST deployments",
    "POST deployments/3/statuses in_progress",
    "GET issues/7/comments",
    "POST issues/7/comments",
  ]);
  expect(await tell(notes, preview("Building"))).toEqual([]);
  expect(await tell(notes, preview("Ready"))).toEqual([
    `POST statuses/${first} success`,
    "POST deployments/3/statuses success",
    "PATCH issues/comments/6",
  ]);
  expect(await tell(notes, preview("Ready"))).toEqual([]);
  expect(notes.statuses).toEqual([{ context, sha: first, digest: expect.any(String) }]);
});

test("omits reports that are turned off", async () => {
  const none = pipelineWith({ commitStatus: false, comment: false });
  expect(piecesFor(none, preview("Ready"), { number: 7 })).toEqual([]);
  const byDefault = piecesFor(pipelineWith(undefined), preview("Ready"), { number: 7 });
  expect(byDefault.map(({ name }) => name)).toEqual(["commitStatus", "comment"]);
});

test("ends the pending status and the deployment of an earlier commit", async () => {
  const { tell } = github();
  const notes: Notes = { number: 7 };
  await tell(notes, preview("Building"));
  expect(await tell(notes, preview("Building", second))).toEqual([
    `POST statuses/${first} success`,
    `POST statuses/${second} pending`,
    "POST deployments/3/statuses inactive",
    "GET deployments",
    "POST deployments",
    "POST deployments/3/statuses in_progress".replace("/3/", "/11/"),
    "PATCH issues/comments/6",
  ]);
});

test("leaves nothing pending or active after the pull request is closed, and updates the comment", async () => {
  const { tell } = github();
  const notes: Notes = { number: 7 };
  await tell(notes, preview("Building"));
  expect(await tell(notes, "gone")).toEqual([
    `POST statuses/${first} success`,
    "POST deployments/3/statuses inactive",
    "PATCH issues/comments/6",
  ]);
  expect(await tell(notes, "gone")).toEqual([]);
});

test("leaves a final status alone when the pull request is closed", async () => {
  const { tell } = github();
  const notes: Notes = { number: 7 };
  await tell(notes, preview("Ready"));
  expect(await tell(notes, "gone")).not.toContain(`POST statuses/${first} success`);
});

test("creates no deployment for waiting and deleted previews, and no comment for a preview that never existed", async () => {
  const { tell } = github();
  expect(await tell({ number: 7 }, preview("Expired"))).toEqual([]);
  const notes: Notes = { number: 7 };
  expect(await tell(notes, preview("NeedsApproval"))).not.toContain("POST deployments");
  await tell(notes, preview("Building"));
  const gone = await tell(notes, preview("Expired"));
  expect(gone).toContain(`POST statuses/${first} success`);
  expect(gone).toContainEqual(expect.stringMatching(/^POST deployments.* inactive$/));
});

const own = { login: "denrei[bot]" };
const onlyComment = pipelineWith({ commitStatus: false });
const commented = (body: readonly object[]) =>
  github((request) => (request.startsWith("GET issues") ? { status: 200, body } : undefined));

test("recognizes only comments of its own account, even if others write the same marker", async () => {
  const body = `${markerOf(context, 7)}\nforged`;
  const forged = [{ login: "stranger" }, { login: "denrei" }, { login: "other[bot]" }, null].map(
    (user, at) => ({
      ...{ id: at + 1, body, user },
      performed_via_github_app: { id: 1, slug: "denrei" },
    }),
  );
  const { tell } = commented(forged);
  expect(await tell({ number: 7 }, preview("Ready"), onlyComment)).toEqual([
    "GET issues/7/comments",
    "POST issues/7/comments",
  ]);
  const among = commented([...forged, { id: 9, body, user: own }]);
  expect(await among.tell({ number: 7 }, preview("Ready"), onlyComment)).toContain("PATCH issues/comments/9");
  const elsewhere = commented([{ id: 9, body: `> ${body}`, user: own }]);
  expect(await elsewhere.tell({ number: 7 }, preview("Ready"), onlyComment)).toContain(
    "POST issues/7/comments",
  );
});

test("finds an unrecorded comment by its marker, and recreates a deleted one", async () => {
  for (const marker of [markerOf(context, 7), former.markerOf(all)]) {
    const { tell } = commented([
      { id: 5, body: "hello", user: own },
      { id: 6, body: `${marker}\nof before`, user: own },
    ]);
    expect(await tell({ number: 7 }, preview("Ready"), onlyComment)).toEqual([
      "GET issues/7/comments",
      "PATCH issues/comments/6",
    ]);
  }
  const deleted = github((request) => (request.startsWith("PATCH") ? { status: 404, body: {} } : undefined));
  expect(
    await deleted.tell({ number: 7, comment: 5 }, preview("Ready"), pipelineWith({ commitStatus: false })),
  ).toEqual(["PATCH issues/comments/5", "GET issues/7/comments", "POST issues/7/comments"]);
});

test("does not create an unrecorded deployment twice", async () => {
  const { tell } = github((request) =>
    request === "GET deployments"
      ? {
          status: 200,
          body: [
            { id: 5, creator: { login: "someone" } },
            { id: 4, creator: own },
          ],
        }
      : undefined,
  );
  const notes: Notes = { number: 7 };
  await tell(
    notes,
    preview("Ready"),
    pipelineWith({ commitStatus: false, comment: false, deployment: true }),
  );
  expect(notes.deployment).toBe(4);
});

test("ends a deployment of an earlier version, and replaces it in the preview's own environment", async () => {
  const { tell } = github();
  const notes: Notes = { number: 7, deployment: 3, deployedSHA: first, deploymentStatus: "d" };
  const onlyDeployment = pipelineWith({ commitStatus: false, comment: false, deployment: true });
  expect(await tell(notes, preview("Ready"), onlyDeployment)).toEqual([
    "POST deployments/3/statuses inactive",
    "GET deployments",
    "POST deployments",
    "POST deployments/3/statuses success",
  ]);
  expect(notes).toMatchObject({ deployment: 3, environment: `${context}/pr-7` });
  expect(await tell(notes, preview("Ready"), onlyDeployment)).toEqual([]);
  const off = pipelineWith({ commitStatus: false, comment: false });
  expect(await tell(notes, preview("Ready"), off)).toEqual(["POST deployments/3/statuses inactive"]);
});

test("does not mistake a locked comment for a deleted one", async () => {
  const { tell, requests } = github((request) =>
    request.startsWith("PATCH")
      ? { status: 422, body: { message: "Unable to update comment because issue is locked." } }
      : undefined,
  );
  await expect(tell({ number: 7, comment: 5 }, preview("Ready"), onlyComment)).rejects.toThrow(
    "turn comments off",
  );
  expect(requests).toEqual(["PATCH issues/comments/5"]);
});

test("ends reports although their commits and deployments were deleted on GitHub", async () => {
  const { tell } = github((request) =>
    request.startsWith("POST")
      ? { status: request.startsWith("POST statuses/") ? 422 : 404, body: {} }
      : undefined,
  );
  const statuses = [{ context, sha: first, digest: "d", pending: true }];
  const notes: Notes = { number: 7, statuses, pendingSHA: first, deployment: 3, deployedSHA: first };
  await tell(notes, "gone");
  expect(notes).toEqual({ number: 7 });
});

test("retries a refused piece at its time, without delaying others", () => {
  const notes: Notes = { number: 7 };
  const names = (at: Date) => piecesFor(all, preview("Ready"), notes, at).map(({ name }) => name);
  const [status, , comment] = piecesFor(all, preview("Ready"), notes);
  if (status === undefined || comment === undefined) throw new Error("expected all pieces");
  refuse(comment, new Date(now.getTime() + 60_000));
  refuse(status, new Date(now.getTime() + 30_000));
  expect(names(now)).toEqual(["deployment"]);
  expect(names(new Date(now.getTime() + 30_000))).toEqual(["commitStatus", "deployment"]);
  expect(names(new Date(now.getTime() + 60_000))).toEqual(["commitStatus", "deployment", "comment"]);
  accept(status);
  expect(Object.keys(notes.refused ?? {})).toEqual(["comment"]);
  accept(comment);
  expect(notes).toEqual({ number: 7 });
});

test("drops a due refusal, whether the piece is still desired or not", () => {
  const refused = { comment: "2026-01-02T03:04:05Z", deployment: "2026-01-02T03:04:06Z" };
  const [notes, { deployment }] = [{ number: 7, refused }, refused];
  expect(unrefused(notes, now.getTime() - 1)).toEqual(notes);
  expect(unrefused(notes, now.getTime())).toEqual({ number: 7, refused: { deployment } });
  expect(unrefused(notes, Number.POSITIVE_INFINITY)).toEqual({ number: 7 });
});
