/** The providers that every gateway knows. Their hooks need no configuration but a secret. */
import { github } from "./github/github.ts";
import type { WebhookProvider } from "./provider.ts";
import { bitbucket } from "./providers/bitbucket.ts";
import { hmacWebhooks, standardWebhooks } from "./providers/generic.ts";
import { gitea } from "./providers/gitea.ts";
import { gitlab } from "./providers/gitlab.ts";

export const builtInProviders: readonly WebhookProvider[] = [
  github,
  gitea,
  gitlab,
  bitbucket,
  standardWebhooks,
  hmacWebhooks,
];
