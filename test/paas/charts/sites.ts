/** Site configurations. */
import { type SiteConfig, siteSchema } from "../../../functions/paas/charts/site.ts";

export const site = (more: object = {}): SiteConfig => siteSchema.parse(more);
