/** The function `clustergithubapp`. */
import { appFunction } from "./app.ts";
import { ClusterGitHubApp } from "./kinds.ts";

export default appFunction("clustergithubapp", ClusterGitHubApp);
