/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env_json.c - what env_print.c says in words, as JSON */
#include "tools/command/env_json.h"

#include "tools/command/command.h"

static const char *const outcome_names[] = {
	[OSP_OUTCOME_SET] = "set",	 [OSP_OUTCOME_KEPT] = "kept",	[OSP_OUTCOME_LEFT] = "left",
	[OSP_OUTCOME_WARNED] = "warned", [OSP_OUTCOME_UNSET] = "unset", [OSP_OUTCOME_OPEN] = "open",
};

static void add_number(json_t *object, const char *key, int64_t number)
{
	json_object_set_new(object, key, number < 0 ? json_null() : json_integer(number));
}

static json_t *json_answer(enum osp_truth answer)
{
	return answer == OSP_UNKNOWN ? json_null() : json_boolean(answer == OSP_YES);
}

static json_t *json_instance(const struct osp_instance *instance)
{
	json_t *object = instance ? json_object() : json_null();

	if (!instance)
		return object;
	json_object_set_new(object, "name", osp_json_string(instance->name));
	json_object_set_new(object, "provider", osp_json_string(instance->provider));
	json_object_set_new(object, "vendor", osp_json_string(instance->vendor));
	json_object_set_new(object, "accelerator", osp_json_string(instance->accelerator));
	add_number(object, "accelerators", instance->accelerators);
	add_number(object, "accelerator_memory_mib", instance->accelerator_memory_mib);
	json_object_set_new(object, "cpu", osp_json_string(instance->cpu));
	add_number(object, "vcpus", instance->vcpus);
	add_number(object, "memory_gib", instance->memory_gib);
	add_number(object, "numa_nodes", instance->numa_nodes);
	json_object_set_new(object, "fabric", osp_json_string(instance->fabric));
	add_number(object, "nics", instance->nics);
	add_number(object, "nic_generation", instance->nic_generation);
	json_object_set_new(object, "rdma_read", json_answer(instance->rdma_read));
	add_number(object, "network_mbps", instance->network_mbps);
	add_number(object, "nvlink", instance->nvlink);
	add_number(object, "nvswitches", instance->nvswitches);
	add_number(object, "pcie_gts", instance->pcie_gts);
	json_object_set_new(object, "source", osp_json_string(instance->source));
	return object;
}

static json_t *json_rivals(const struct osp_node *node)
{
	json_t *list = json_array();

	for (size_t i = 0; i < 2 && node->rivals[i]; i++)
		json_array_append_new(list, osp_json_string(node->rivals[i]->name));
	return list;
}

json_t *osp_env_json_view(const struct osp_env_view *view)
{
	json_t *object = json_object(), *facts = json_object();

	json_object_set_new(object, "instance", json_instance(view->instance));
	if (view->node) {
		json_object_set_new(object, "product", osp_json_string(view->node->product));
		json_object_set_new(object, "may_be", json_rivals(view->node));
		add_number(object, "gpus", view->node->gpus);
		add_number(object, "efa_adapters", view->node->efa_adapters);
	}
	for (int i = 0; i < OSP_FACT_COUNT; i++) {
		const struct osp_fact *fact = &view->facts->facts[i];

		json_object_set_new(facts, osp_fact_name(i),
				    fact->known ? osp_json_string(fact->text) : json_null());
	}
	json_object_set_new(object, "facts", facts);
	return object;
}

static void add_rule(json_t *object, const struct osp_rule *rule)
{
	json_object_set_new(object, "rule", osp_json_string(rule->id));
	json_object_set_new(object, "severity", osp_json_string(osp_severity_name(rule->severity)));
	json_object_set_new(object, "reason", osp_json_string(rule->reason));
	json_object_set_new(object, "cure", osp_json_string(rule->cure));
	json_object_set_new(object, "source", osp_json_string(rule->source));
}

json_t *osp_env_json_decisions(const struct osp_decisions *decisions)
{
	json_t *list = json_array();

	for (size_t i = 0; i < osp_decisions_count(decisions); i++) {
		const struct osp_decision *decision = osp_decisions_at(decisions, i);
		const struct osp_variable *user = decision->user;
		json_t *object = json_object();

		json_object_set_new(object, "outcome",
				    json_string(outcome_names[decision->outcome]));
		json_object_set_new(object, "variable", osp_json_string(decision->variable));
		json_object_set_new(object, "value", osp_json_string(decision->value));
		json_object_set_new(object, "yours", osp_json_string(user ? user->value : NULL));
		json_object_set_new(object, "from", osp_json_string(user ? user->origin : NULL));
		json_object_set_new(object, "unknown",
				    decision->outcome == OSP_OUTCOME_OPEN &&
						    decision->unknown < OSP_FACT_COUNT
					    ? json_string(osp_fact_name(decision->unknown))
					    : json_null());
		add_rule(object, decision->rule);
		json_array_append_new(list, object);
	}
	return list;
}

static const char *const doubt_names[] = {
	[OSP_DOUBT_NONE] = NULL,
	[OSP_DOUBT_BRANCH] = "branch",
	[OSP_DOUBT_REPLACED] = "replaced",
	[OSP_DOUBT_STARTED] = "started",
};

json_t *osp_env_json_findings(const char *file, const struct osp_findings *findings)
{
	json_t *list = json_array();

	for (size_t i = 0; i < osp_findings_count(findings); i++) {
		const struct osp_finding *finding = osp_findings_at(findings, i);
		const struct osp_setting *setting = finding->setting;
		json_t *object = json_object();

		json_object_set_new(object, "file", osp_json_string(file));
		add_number(object, "line", setting ? setting->line : -1);
		add_number(object, "column", setting ? setting->column : -1);
		json_object_set_new(object, "variable", osp_json_string(finding->variable));
		json_object_set_new(object, "value",
				    osp_json_string(setting ? setting->value : finding->value));
		json_object_set_new(object, "certain", json_boolean(osp_finding_holds(finding)));
		json_object_set_new(object, "doubt",
				    osp_json_string(setting ? doubt_names[setting->doubt] : NULL));
		add_rule(object, finding->rule);
		json_array_append_new(list, object);
	}
	return list;
}
