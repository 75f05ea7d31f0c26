/** The GitHub of `denrei dev --simulate github`, and manifests of its App for the cluster. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { GitHubApp, Installation } from "@denrei/functions/ghapp/kinds";
import { TokenSecret } from "@denrei/functions/ghapp/secret";
import { apiVersionOf, type Kind, Namespace, optInLabel } from "denrei/kinds";
import { stringify } from "yaml";
import type { Environment } from "../../environment/environment.ts";
import {
  connectionOf,
  type GitHubOptions,
  type SimulatedGitHub,
  startGitHub,
} from "../../environment/simulators/github.ts";
import type { Receiver } from "./receiver.ts";

/** What the user needs to use it. */
export interface DevGitHub {
  readonly url: string;
  /** `owner/name` */
  readonly repository: string;
  /** A file with a namespace, the App's key, a GitHubApp, and an Installation. */
  readonly manifestPath: string;
  /** A file with the HTTP header of a user who may write to the repository. */
  readonly headerPath: string;
  /** Environment variables for a dashboard. */
  readonly connection: Readonly<Record<string, string>>;
}

/** How to start it. */
export interface DevGitHubOptions extends Pick<GitHubOptions, "onEnd" | "onLine" | "signal"> {
  readonly environment: Pick<Environment, "processes" | "dashboard">;
  readonly receiver: Pick<Receiver, "hooks">;
}

const repository = "acme/web";
const namespace = "acme";
/** The same as on GitHub. */
const tokenSeconds = 3600;
const privateKeySecretRef = { name: "app-key", key: "private-key.pem" };

/** Starts it; its webhooks go to the receiver. Throws what `startSimulator` throws. */
export async function openGitHub({
  environment: { processes, dashboard },
  receiver: {
    hooks: [hook],
  },
  ...options
}: DevGitHubOptions): Promise<DevGitHub> {
  const { spawn, directory } = processes;
  const github = await startGitHub(
    { spawn, hook },
    { repository, tokenSeconds, dashboardUrl: dashboard?.url, ...options },
  );
  const [manifestPath, headerPath] = [join(directory, "github.yaml"), join(directory, "github-user")];
  const secret = { mode: 0o600 };
  await writeFile(manifestPath, manifestOf(github), secret);
  await writeFile(headerPath, `authorization: Bearer ${github.userToken}\n`, secret);
  const connection = await connectionOf(github, directory);
  return { url: github.url, repository, manifestPath, headerPath, connection };
}

const manifestOf = ({ url, appId, installationId, privateKey }: SimulatedGitHub): string =>
  [
    object(Namespace, { name: namespace, labels: { [optInLabel]: "true" } }),
    object(TokenSecret, inNamespace(privateKeySecretRef.name), {
      stringData: { [privateKeySecretRef.key]: privateKey },
    }),
    object(GitHubApp, inNamespace("app"), { spec: { url, appID: appId, privateKeySecretRef } }),
    object(Installation, inNamespace("acme"), {
      spec: {
        appRef: { kind: GitHubApp.kind, name: "app" },
        installationID: installationId,
        key: "token",
        template: {},
      },
    }),
  ]
    .map((one) => stringify(one))
    .join("---\n");

const inNamespace = (name: string) => ({ name, namespace });

const object = (kind: Kind, metadata: object, content: object = {}): object => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  metadata,
  ...content,
});
