-- CreateIndex
CREATE INDEX "LiveStreamSpan_storeId_seconds_startsAt_idx" ON "LiveStreamSpan"("storeId", "seconds", "startsAt");
