/** Fields of payloads that GitHub and Gitea have in common: Gitea's webhooks have the shape of GitHub's. */
import { z } from "zod";

export const person = z.object({ login: z.string() });

export const repositoryFields = z.object({
  id: z.number(),
  name: z.string(),
  full_name: z.string(),
  default_branch: z.string().optional(),
  owner: person,
});
