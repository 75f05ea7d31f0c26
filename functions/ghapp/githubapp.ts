/** The function `githubapp`. */
import { appFunction } from "./app.ts";
import { GitHubApp } from "./kinds.ts";

export default appFunction("githubapp", GitHubApp);
