/** The repository of the sample's piped, with an application that has an event watcher. */
import { openRepository, type Repository } from "./repository.ts";

/** Remote URL in the sample's Piped. */
const remote = "https://github.com/ShotaKitazawa/examples.git";

/** Folder of the sample's application, and its file that an event changes. */
const folder = "kubernetes/canary";
export const deploymentFile = `${folder}/deployment.yaml`;

/** Name and labels that the event watcher matches. */
export const event = { name: "web-image", labels: { app: "web" } };

const watcher = `apiVersion: pipecd.dev/v1beta1
kind: KubernetesApp
spec:
  eventWatcher:
    - matcher:
        name: ${event.name}
        labels:
          app: web
      handler:
        type: GIT_UPDATE
        config:
          commitMessage: "Deploy {{ .Value }}"
          replacements:
            - file: deployment.yaml
              yamlField: $.spec.template.spec.containers[0].image
`;

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      containers:
        - name: web
          image: registry.example.com/web:first
`;

/** The repository by its remote URL. */
export function eventRepositories(): ReadonlyMap<string, Repository> {
  const files = { [`${folder}/app.pipecd.yaml`]: watcher, [deploymentFile]: deployment };
  return new Map([[remote, openRepository(files)]]);
}
