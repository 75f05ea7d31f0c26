/** The function of ClusterGitHubApps. */
import { appFunction } from "./app.ts";
import { ClusterGitHubApp } from "./kinds.ts";

export default appFunction("clustergithubapp", ClusterGitHubApp);
