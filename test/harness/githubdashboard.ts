/** A dashboard with a simulated GitHub where each user sees some of the installations and repositories. */
import { type SimulatedGitHub, startGitHub } from "../../deploy/simulators/github/github.ts";
import { type DashboardEnvironment, startDashboardEnvironment } from "./dashboard.ts";

/** More repositories than fit on one page of GitHub's list. */
export const many = Array.from({ length: 120 }, (_, at) => `acme/part-${at}`);

/** Installation IDs of the App. `octo` sees all but `unseen`, and the other user sees none. */
export const ids = { own: 51, others: 52, personal: 53, unseen: 54 } as const;

/** Starts both; `github` is the one the dashboard uses. */
export async function startGitHubDashboardEnvironment(): Promise<{
  readonly environment: DashboardEnvironment;
  readonly github: SimulatedGitHub;
  stop(): Promise<void>;
}> {
  let github: SimulatedGitHub | undefined;
  const environment = await startDashboardEnvironment({
    async github(callbackUrl) {
      github = await startGitHub({
        repositories: [
          "acme/web",
          "acme/docs",
          "acme/secret",
          ...many,
          "other/web",
          "octo/home",
          "hidden/web",
        ],
        people: [
          {
            login: "octo",
            readOnly: ["acme/docs"],
            repositories: ["acme/web", "acme/docs", ...many, "octo/home", "other/web"],
          },
          { login: "nobody", repositories: [] },
        ],
        apps: [
          {
            callbackUrls: [callbackUrl],
            installations: [
              { id: ids.own, account: "acme" },
              { id: ids.others, account: "other", repositories: ["other/web"] },
              { id: ids.personal, account: "octo" },
              { id: ids.unseen, account: "hidden" },
            ],
          },
        ],
      });
      return github;
    },
  }).catch(async (error: unknown) => {
    await github?.stop();
    throw error;
  });
  if (github === undefined) throw new Error("the dashboard started no GitHub");
  const started = github;
  return {
    environment,
    github: started,
    async stop() {
      await environment.stop();
      await started.stop();
    },
  };
}
