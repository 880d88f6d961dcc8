/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kafka-tool: what tests need of a broker, without a JVM's start for every call. Never installed.
 */
#include "kafka-tool/tool.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char USAGE[] =
    "usage: kafka-tool -b HOST:PORT create-topic TOPIC PARTITIONS [NAME=VALUE…]\n"
    "       kafka-tool -b HOST:PORT add-partitions TOPIC TOTAL\n"
    "       kafka-tool -b HOST:PORT alter-topic TOPIC NAME=VALUE\n"
    "       kafka-tool -b HOST:PORT delete-topic TOPIC\n"
    "       kafka-tool -b HOST:PORT delete-records TOPIC PARTITION BEFORE\n"
    "       kafka-tool -b HOST:PORT topic-info TOPIC\n"
    "       kafka-tool -b HOST:PORT [--transactional-id=ID [--commit|--abort]] [--hold] produce TOPIC <NDJSON\n";

static int usage(void)
{
    fputs(USAGE, stderr);
    return 2;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"transactional-id", required_argument, NULL, 't'},
                                            {"commit", no_argument, NULL, 'c'},
                                            {"abort", no_argument, NULL, 'a'},
                                            {"hold", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    struct tool_produce produce = {.ending = END_COMMIT};
    const char *bootstrap = NULL;
    for (int c; (c = getopt_long(argc, argv, "+b:", options, NULL)) != -1;) {
        switch (c) {
        case 'b': bootstrap = optarg; break;
        case 't': produce.transactional_id = optarg; break;
        case 'c': produce.ending = END_COMMIT; break;
        case 'a': produce.ending = END_ABORT; break;
        case 'h': produce.hold = true; break;
        default: return usage();
        }
    }
    argv += optind;
    argc -= optind;
    if (!bootstrap || argc < 2)
        return usage();
    const char *verb = argv[0], *topic = argv[1];
    if (!strcmp(verb, "create-topic") && argc >= 3)
        return tool_create_topic(bootstrap, topic, atoi(argv[2]), argv + 3, argc - 3);
    if (!strcmp(verb, "add-partitions") && argc == 3)
        return tool_add_partitions(bootstrap, topic, atoi(argv[2]));
    if (!strcmp(verb, "alter-topic") && argc == 3)
        return tool_alter_topic(bootstrap, topic, argv[2]);
    if (!strcmp(verb, "delete-topic") && argc == 2)
        return tool_delete_topic(bootstrap, topic);
    if (!strcmp(verb, "delete-records") && argc == 4)
        return tool_delete_records(bootstrap, topic, atoi(argv[2]), atoll(argv[3]));
    if (!strcmp(verb, "topic-info") && argc == 2)
        return tool_topic_info(bootstrap, topic);
    if (!strcmp(verb, "produce") && argc == 2) {
        produce.topic = topic;
        return tool_produce(bootstrap, &produce);
    }
    return usage();
}
