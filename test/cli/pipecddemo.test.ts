/** `denrei demo pipecd` on a local platform. */
import { expect, test } from "vitest";
import { platformPrograms, programs } from "../harness/programs.ts";
import { run, testFolder } from "./program.ts";

await programs(...platformPrograms);

const args = ["demo", "pipecd"];

const id = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";

const worker = /^worker-[123]$/;

interface Step {
  readonly actor: string;
  readonly text: string;
}

/** The steps that the demo printed. */
class Steps {
  readonly #steps: readonly Step[];

  constructor(stdout: string) {
    const lines = stdout.matchAll(/^ {2} *[\d.]+ s {3}(\S*) +(.*)$/gm);
    this.#steps = [...lines].map(([, actor = "", text = ""]) => ({ actor, text }));
  }

  /** The position of the only step with this actor and text. */
  one(actor: RegExp, text: string): number {
    const pattern = new RegExp(`^${text}$`);
    const found = this.#steps.filter((step) => actor.test(step.actor) && pattern.test(step.text));
    expect(found, `${actor} ${text}`).toHaveLength(1);
    return this.#steps.indexOf(found[0] as Step);
  }

  /** The positions of all steps with this actor and text. */
  all(actor: RegExp, text: RegExp): number[] {
    return this.#steps.flatMap((step, at) => (actor.test(step.actor) && text.test(step.text) ? [at] : []));
  }

  ran(name: string): number {
    return this.one(/^kwok$/, `runs ${name}: .+`);
  }

  ready(object: string): number {
    return this.one(/^demo$/, `found the ${object} ready \\(.+\\)`);
  }

  deleted(object: string): number {
    return this.one(/^$/, `the ${object} was deleted`);
  }

  /** The ID in the text of a step. */
  idAt(position: number): string | undefined {
    return new RegExp(id).exec(this.#steps[position]?.text ?? "")?.[0];
  }
}

/** IDs at PipeCD. */
interface RegisteredIds {
  readonly piped: string | undefined;
  readonly application: string | undefined;
}

const expectAscending = (...positions: number[]) =>
  expect(positions).toEqual(positions.toSorted((a, b) => a - b));

/** Cells of the only row of a table, without its age. */
const row = (stdout: string, kind: string): string[] | undefined =>
  stdout
    .split(`\n$ kubectl get ${kind}.pipecd.kanatakita.com -n denrei-demo\n`)[1]
    ?.split("\n")[1]
    ?.split(/ {2,}/)
    .slice(0, -1);

/** Server and ops wait for their stores, the agent for the server, and the application for the agent. */
function expectStart(steps: Steps): RegisteredIds {
  const server = steps.ran("controlplane-sample-server");
  for (const store of ["minio-sample-minio", "mysql-sample-mysql"]) {
    expectAscending(steps.ran(store), server);
    expectAscending(steps.ran(store), steps.ran("controlplane-sample-ops"));
  }
  for (const part of ["cache", "gateway"])
    expectAscending(
      steps.ran(`controlplane-sample-${part}`),
      steps.ready("ControlPlane controlplane-sample"),
    );
  const piped = steps.one(worker, `registered the piped test-piped with PipeCD as ${id}`);
  const application = steps.one(worker, `registered the application test-application with PipeCD as ${id}`);
  expectAscending(server, piped, application, steps.ready("Application application-sample"));
  expectAscending(piped, steps.ran("piped-sample"), steps.ready("Piped piped-sample"));
  for (const object of ["Minio minio-sample", "Mysql mysql-sample", "Environment environment-sample"])
    steps.ready(object);
  return { piped: steps.idAt(piped), application: steps.idAt(application) };
}

function expectTables(stdout: string, ids: RegisteredIds): void {
  expect(row(stdout, "applications")?.slice(-3)).toEqual(["Kubernetes", ids.application, "True"]);
  expect(row(stdout, "pipeds")?.slice(-4)).toEqual(["v0.57.0", ids.piped, "1", "True"]);
  expect(row(stdout, "environments")).toContain("test-environment");
  expect(row(stdout, "controlplanes")).toEqual([
    "controlplane-sample",
    "v0.57.0",
    ...["1", "1", "1", "1", "True"],
  ]);
  for (const kind of ["minios", "mysqls"]) expect(row(stdout, kind)).toContain("1");
  expect(row(stdout, "eventregistrations")?.slice(-4)).toEqual([
    "quickstart",
    "web-image",
    "Succeeded",
    "True",
  ]);
}

/** Each of the two images is built, registered, committed, deployed, and reported, in this order. */
function expectTwoDeployments(steps: Steps): void {
  const chapters = [
    steps.all(/^demo$/, /^requested a build of the commit (1{7}|2{7})$/),
    steps.all(
      worker,
      new RegExp(`^PipeCD has the event ${id} for registry.example.com/web@sha256:[0-9a-f]{7}…$`),
    ),
    steps.all(
      /^agent$/,
      /^committed to examples: Deploy registry.example.com\/web@sha256:[0-9a-f]{7}… \([0-9a-f]{7}\)$/,
    ),
    steps.all(/^agent$/, /^created a deployment of test-application at [0-9a-f]{7}$/),
    steps.all(
      /^demo$/,
      /^found the EventRegistration eventregistration-sample handled \(Successfully updated .*\)$/,
    ),
  ];
  expect(chapters.map(({ length }) => length)).toEqual([2, 2, 2, 2, 2]);
  expectAscending(...[0, 1].flatMap((image) => chapters.map((chapter) => chapter[image] ?? Number.NaN)));
}

function expectDeletion(steps: Steps, ids: RegisteredIds): void {
  expectAscending(
    steps.one(/^demo$/, "deleted everything at once, .*"),
    steps.deleted("Application application-sample"),
    steps.deleted("Piped piped-sample"),
    steps.deleted("Environment environment-sample"),
    steps.deleted("ControlPlane controlplane-sample"),
    Math.min(steps.deleted("Mysql mysql-sample"), steps.deleted("Minio minio-sample")),
    steps.one(/^demo$/, "verified that nothing remains: no .*, ClusterRole, or ClusterRoleBinding"),
  );
  steps.one(worker, `PipeCD has deleted the application ${ids.application}`);
  steps.one(worker, `PipeCD has disabled the piped ${ids.piped}`);
}

test("starts and registers everything, deploys new images, and deletes everything in order", async () => {
  const here = testFolder();
  const { code, signal, stdout, stderr } = await run(args, { env: here.env });
  expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: "" });
  const steps = new Steps(stdout);
  const ids = expectStart(steps);
  expectTables(stdout, ids);
  expectTwoDeployments(steps);
  expectDeletion(steps, ids);
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});
