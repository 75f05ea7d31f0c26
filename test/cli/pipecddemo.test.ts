/** `denrei demo pipecd` on a local platform. */
import { expect, test } from "vitest";
import { platformPrograms, programs } from "../harness/programs.ts";
import { place, run } from "./program.ts";

await programs(...platformPrograms);

const args = ["demo", "pipecd"];

const id = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";

/** The steps: who did what. */
const stepsIn = (stdout: string): { readonly by: string; readonly what: string }[] =>
  [...stdout.matchAll(/^ {2} *[\d.]+ s {3}(\S*) +(.*)$/gm)].map(([, by = "", what = ""]) => ({ by, what }));

/** Cells of the only row of a table, without its age. */
const row = (stdout: string, kind: string): string[] | undefined =>
  stdout
    .split(`\n$ kubectl get ${kind}.pipecd.kanatakita.com -n denrei-demo\n`)[1]
    ?.split("\n")[1]
    ?.split(/ {2,}/)
    .slice(0, -1);

test("starts and registers everything, deploys new images, and deletes everything in order", async () => {
  const here = place();
  const { code, signal, stdout, stderr } = await run(args, { env: here.env });
  expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: "" });
  const steps = stepsIn(stdout);
  const at = (by: RegExp, what: string): number => {
    const fits = new RegExp(`^${what}$`);
    const found = steps.filter((step) => by.test(step.by) && fits.test(step.what));
    expect(found, `${by} ${what}`).toHaveLength(1);
    return steps.indexOf(found[0] as (typeof steps)[number]);
  };
  const isAscending = (...places: number[]) => expect(places).toEqual(places.toSorted((a, b) => a - b));
  const ran = (name: string) => at(/^kwok$/, `runs ${name}: .+`);
  const ready = (object: string) => at(/^demo$/, `found the ${object} ready \\(.+\\)`);
  const deleted = (object: string) => at(/^$/, `the ${object} was deleted`);
  const worker = /^worker-[123]$/;

  // Server and ops wait for their stores, the agent for the server, and the application for the agent.
  const server = ran("controlplane-sample-server");
  for (const store of ["minio-sample-minio", "mysql-sample-mysql"]) {
    isAscending(ran(store), server);
    isAscending(ran(store), ran("controlplane-sample-ops"));
  }
  for (const part of ["cache", "gateway"])
    isAscending(ran(`controlplane-sample-${part}`), ready("ControlPlane controlplane-sample"));
  const [piped, application] = [
    at(worker, `registered the piped test-piped at PipeCD as ${id}`),
    at(worker, `registered the application test-application at PipeCD as ${id}`),
  ];
  isAscending(server, piped, application, ready("Application application-sample"));
  isAscending(piped, ran("piped-sample"), ready("Piped piped-sample"));
  for (const object of ["Minio minio-sample", "Mysql mysql-sample", "Environment environment-sample"])
    ready(object);
  const idIn = (place: number) => new RegExp(id).exec(steps[place]?.what ?? "")?.[0];
  expect(row(stdout, "applications")?.slice(-3)).toEqual(["Kubernetes", idIn(application), "True"]);
  expect(row(stdout, "pipeds")?.slice(-4)).toEqual(["v0.57.0", idIn(piped), "1", "True"]);
  expect(row(stdout, "environments")).toContain("test-environment");
  expect(row(stdout, "controlplanes")).toEqual([
    "controlplane-sample",
    "v0.57.0",
    ...["1", "1", "1", "1", "True"],
  ]);
  for (const kind of ["minios", "mysqls"]) expect(row(stdout, kind)).toContain("1");

  const places = (by: RegExp, what: RegExp) =>
    steps.flatMap((step, place) => (by.test(step.by) && what.test(step.what) ? [place] : []));
  const chapters = [
    places(/^demo$/, /^requested a build of the commit (1{7}|2{7})$/),
    places(
      worker,
      new RegExp(`^PipeCD has the event ${id} for registry.example.com/web@sha256:[0-9a-f]{7}…$`),
    ),
    places(
      /^agent$/,
      /^committed to examples: Deploy registry.example.com\/web@sha256:[0-9a-f]{7}… \([0-9a-f]{7}\)$/,
    ),
    places(/^agent$/, /^created a deployment of test-application at [0-9a-f]{7}$/),
    places(
      /^demo$/,
      /^found the EventRegistration eventregistration-sample handled \(Successfully updated .*\)$/,
    ),
  ];
  expect(chapters.map(({ length }) => length)).toEqual([2, 2, 2, 2, 2]);
  isAscending(...[0, 1].flatMap((image) => chapters.map((chapter) => chapter[image] ?? Number.NaN)));
  expect(row(stdout, "eventregistrations")?.slice(-4)).toEqual([
    "quickstart",
    "web-image",
    "Succeeded",
    "True",
  ]);

  isAscending(
    at(/^demo$/, "deleted everything at once, .*"),
    deleted("Application application-sample"),
    deleted("Piped piped-sample"),
    deleted("Environment environment-sample"),
    deleted("ControlPlane controlplane-sample"),
    Math.min(deleted("Mysql mysql-sample"), deleted("Minio minio-sample")),
    at(/^demo$/, "verified that nothing remains: no .*, ClusterRole, or ClusterRoleBinding"),
  );
  at(worker, `PipeCD has deleted the application ${idIn(application)}`);
  at(worker, `PipeCD has disabled the piped ${idIn(piped)}`);
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});
