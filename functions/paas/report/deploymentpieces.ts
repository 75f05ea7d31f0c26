/** Reports deployments. Each preview has its own environment. */
import { digestOf } from "denrei";
import type { Preview } from "../kinds/apppipeline.ts";
import { previewContext } from "./names.ts";
import { isOwn, type Piece, type SendContext, type Subject, unlessGone } from "./piece.ts";
import type { Notes } from "./record.ts";
import { deploymentStatusOf, reportedSHA } from "./text.ts";

const name = "deployment";

/** Changes of a preview's deployment. */
export function deploymentPieces({ context }: Subject, preview: Preview, notes: Notes): Piece[] {
  const sha = reportedSHA(preview);
  const status = deploymentStatusOf(preview);
  if (status === undefined) return inactivation(notes);
  const environment = previewContext(context, preview.number);
  const isThere = notes.deployedSHA === sha && notes.environment === environment;
  const digest = digestOf(status, 16);
  if (isThere && notes.deploymentStatus === digest) return [];
  return [
    {
      name,
      notes,
      async send(target) {
        if (!isThere) await deactivate(notes, target);
        if (notes.deployment === undefined) {
          notes.deployment = await deploymentAt({ sha, environment }, target);
          notes.deployedSHA = sha;
          notes.environment = environment;
        }
        await target.client.setDeploymentStatus(notes.deployment, status, target.signal);
        notes.deploymentStatus = digest;
      },
    },
  ];
}

/** Finds or creates the deployment: a worker may have died between creating and recording it. */
async function deploymentAt(
  at: { readonly sha: string; readonly environment: string },
  target: SendContext,
): Promise<number> {
  const { client, signal } = target;
  for (const found of await client.deployments(at, signal)) if (await isOwn(found, target)) return found.id;
  return (await client.createDeployment({ ...at, ref: at.sha }, signal)).id;
}

/** Sets a recorded deployment inactive. */
export const inactivation = (notes: Notes): Piece[] =>
  notes.deployment === undefined ? [] : [{ name, notes, send: (target) => deactivate(notes, target) }];

/** Sets the deployment inactive. A deleted one counts as inactive. */
async function deactivate(notes: Notes, { client, signal }: SendContext): Promise<void> {
  if (notes.deployment === undefined) return;
  await client.setDeploymentStatus(notes.deployment, { state: "inactive" }, signal).catch(unlessGone);
  for (const field of ["deployment", "deployedSHA", "deploymentStatus", "environment"] as const)
    delete notes[field];
}
