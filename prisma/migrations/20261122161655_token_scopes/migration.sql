-- Tokens that were issued before may do all that they could: they get every scope. So do those that a server of an earlier version
-- issues while servers are replaced.

-- AlterTable
ALTER TABLE "AccessToken" ADD COLUMN     "scopes" TEXT[] NOT NULL DEFAULT ARRAY['catalog:read', 'catalog:write', 'shows:write', 'events:write', 'analytics:read']::TEXT[];

-- AddCheck
ALTER TABLE "AccessToken" ADD CONSTRAINT "AccessToken_scopes_check" CHECK (cardinality("scopes") > 0 AND "scopes" <@ ARRAY['catalog:read', 'catalog:write', 'shows:write', 'events:write', 'analytics:read']::TEXT[]);
