/** Names of objects: RFC 1123 subdomains. */
import { z } from "zod";
import { text } from "./text.ts";

const dnsName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Schema of the metadata of a new namespaced object. */
export const newMetadata = (longest: number) =>
  z.object({
    name: z.string(text.enterName).regex(dnsName, text.nameShape).max(longest, text.useAtMost(longest)),
    namespace: z.string(text.enterNamespace).regex(dnsName, text.nameShape).max(63),
  });
