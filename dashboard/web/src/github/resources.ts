/** The GitHub kinds in the Kubernetes API. */
import type { ClusterGitHubApp, GitHubApp, Installation } from "@denrei/functions/ghapp/kinds";
import { group, version } from "@denrei/functions/ghapp/names";
import { resource } from "../api/resource.ts";

export const secrets = resource("", "v1", "Secret", "secrets");
export const installations = resource<Installation>(group, version, "Installation", "installations");
export const gitHubApps = resource<GitHubApp>(group, version, "GitHubApp", "githubapps");
export const clusterGitHubApps = resource<ClusterGitHubApp>(
  group,
  version,
  "ClusterGitHubApp",
  "clustergithubapps",
);
