-- Shows that are announced: they start in the future. Two statements, since Citus takes a constraint alone.

ALTER TABLE "LiveStream" DROP CONSTRAINT "LiveStream_status_check";

ALTER TABLE "LiveStream" ADD CONSTRAINT "LiveStream_status_check" CHECK ("status" IN ('SCHEDULED', 'LIVE', 'ENDED', 'ARCHIVED'));
