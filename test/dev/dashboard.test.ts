/** `denrei dev --dashboard` */
import { expect, test } from "vitest";
import { connectGitHub } from "../../deploy/cli/demo/visitor.ts";
import { run, start, testFolder } from "../cli/program.ts";
import { pidOf, printed } from "../cli/up.ts";
import { platformPrograms, programs } from "../harness/programs.ts";
import { logIn } from "../harness/visitor.ts";

await programs(...platformPrograms);

const hikawas = "/api/kubernetes/apis/zundokokiyoshi.kaitoy.github.com/v1beta1/namespaces/default/hikawas";
const hikawa = {
  apiVersion: "zundokokiyoshi.kaitoy.github.com/v1beta1",
  kind: "Hikawa",
  metadata: { name: "seen" },
  spec: { intervalMillis: 86_400_000 },
};

test("shows users what a function did and the simulated GitHub, also after a restart", async () => {
  const here = testFolder();
  const args = ["dev", "hikawa", "--dashboard", "--simulate", "github"];
  const running = start(args, { env: here.env });
  const url = /(http:\S+)$/.exec(await printed(running, "The dashboard is at "))?.[1] ?? "";
  const visitorNamed = async (name: string) => {
    const line = await printed(running, `Log in as ${name}, `);
    return logIn(url, { name, password: /: (\S+)$/.exec(line)?.[1] ?? "" });
  };
  const [alice, bob] = [await visitorNamed("alice"), await visitorNamed("bob")];
  // New roles take effect on the API server after a moment.
  await expect
    .poll(() => alice.ask(hikawas, { method: "POST", body: hikawa }), { timeout: 30_000 })
    .toMatchObject({ status: 201 });
  expect(await bob.ask(hikawas, { method: "POST", body: hikawa })).toMatchObject({ status: 403 });
  await expect
    .poll(async () => (await bob.ask(`${hikawas}/seen`)).json(), { timeout: 30_000 })
    .toMatchObject({ status: { conditions: expect.anything() } });
  // Also works for functions that do not run.
  expect(await alice.ask("/api/bus/figures")).toMatchObject({ status: 200 });
  await connectGitHub(alice, "octocat");

  process.kill(pidOf(here, "denrei.js dashboard"), "SIGKILL");
  await printed(running, /^dashboard-1 restarted \(pid \d+\)/);
  expect((await alice.ask("/api/github")).json()).toMatchObject({ login: "octocat" });

  running.process.kill("SIGINT");
  expect(await running.ended).toMatchObject({ code: 130, signal: null, stderr: "" });
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});

test("refuses an existing cluster without an issuer", async () => {
  const env = { KUBECONFIG: "/there", NATS_URL: "nats://there" };
  const { code, stdout, stderr } = await run(["dev", "--dashboard"], { env });
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toBe(
    "denrei: --dashboard needs a login: set DENREI_OIDC_ISSUER and DENREI_OIDC_CLIENT_ID to an issuer that your API server trusts (docs/dashboard.md)\n",
  );
});
