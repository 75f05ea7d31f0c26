import { afterEach, describe, expect, test, vi } from "vitest";
import type { ChildSpec } from "../../local/run/child.ts";
import { githubSimulator, startGitHub } from "./github.ts";
import { loginSimulator } from "./login.ts";
import { missingSimulator, refuseExistingCluster, requireSimulators } from "./start.ts";

afterEach(() => vi.unstubAllEnvs());

const github = {
  url: "http://127.0.0.1:1234",
  appId: 1,
  installationId: 2,
  privateKey: "a key",
  clientId: "an id",
  clientSecret: "a secret",
  login: "octocat",
  userToken: "a token",
  repository: "acme/web",
};

/** Starts the simulator, with `run` in place of its process. */
async function started(run: (spec: ChildSpec) => void, dashboardUrl?: string) {
  let spec: ChildSpec | undefined;
  const ends: string[] = [];
  const lines: string[] = [];
  const spawn = async (given: ChildSpec) => {
    spec = given;
    run(given);
    await given.ready?.();
    return undefined as never;
  };
  const hook = { urls: ["http://127.0.0.1:1/github/app", "http://127.0.0.1:2/github/app"], secret: "hush" };
  const result = startGitHub(
    { spawn, hook },
    {
      repository: "acme/web",
      tokenSeconds: 12,
      dashboardUrl,
      onEnd: ({ message }) => ends.push(message),
      onLine: (line) => lines.push(line),
      signal: new AbortController().signal,
    },
  );
  await result.catch(() => undefined);
  return { result, spec, ends, lines };
}

const printsReadyLine = ({ onLine }: ChildSpec) => onLine?.(JSON.stringify(github));

describe("the GitHub simulator", () => {
  test("gets the webhook addresses as arguments and the secret as an environment variable", async () => {
    const { result, spec } = await started((process) => {
      process.onLine?.("something else");
      process.onLine?.('{"url":"http://127.0.0.1:1234"}');
      printsReadyLine(process);
    });
    expect(await result).toEqual(github);
    const [program, ...args] = spec?.args ?? [];
    expect(program).toMatch(/\/deploy\/simulators\/github\/main\.ts$/);
    expect(args.join(" ")).toBe(
      "--deliver-to http://127.0.0.1:1/github/app,http://127.0.0.1:2/github/app --token-seconds 12 --repository acme/web",
    );
    expect(spec?.env).toMatchObject({ SIMULATOR_WEBHOOK_SECRET: "hush" });
  });

  test("gets the address of a dashboard whose users connect their accounts", async () => {
    const { spec } = await started(printsReadyLine, "http://127.0.0.1:8090");
    expect(spec?.args.join(" ")).toContain(" --dashboard-url http://127.0.0.1:8090");
  });

  test("is not ready before it prints its ready line", async () => {
    const { result } = await started(({ onLine }) => onLine?.('{"url":"http://127.0.0.1:1234"}'));
    await expect(result).rejects.toThrow("it has not printed its ready line");
  });

  test("passes on what it prints besides its ready line", async () => {
    const { spec, lines } = await started(printsReadyLine);
    spec?.onLine?.("GitHub: push 0c61f3a2 was not delivered");
    expect(lines).toEqual(["GitHub: push 0c61f3a2 was not delivered"]);
  });

  test("reports its end", async () => {
    const { spec, ends } = await started(printsReadyLine);
    spec?.onUnexpectedExit?.({ code: null, signal: "SIGKILL" });
    expect(ends).toEqual(["the GitHub simulator was ended by SIGKILL"]);
  });
});

test("reports a missing simulator if its package is not installed", () => {
  expect(missingSimulator(loginSimulator)).toBeUndefined();
  const withoutPackage = { ...loginSimulator, needs: "no-such-package" };
  const message =
    "the login simulator is not installed. Install it: npm install --save-dev @denrei/simulators (in a checkout: npm ci)";
  expect(missingSimulator(withoutPackage)).toBe(message);
  expect(() => requireSimulators(githubSimulator, withoutPackage)).toThrow(message);
});

test("rejects an existing cluster and names the page to read", () => {
  vi.stubEnv("KUBECONFIG", "/there");
  vi.stubEnv("NATS_URL", "nats://there");
  expect(() => refuseExistingCluster("the demo paas", "docs/paas.md")).toThrow(
    "the demo paas uses simulators and runs on a local platform only. Unset KUBECONFIG and NATS_URL. To use a cluster, see docs/paas.md",
  );
  vi.stubEnv("NATS_URL", undefined);
  refuseExistingCluster("the demo paas", "docs/paas.md");
});
